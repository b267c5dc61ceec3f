-- What the executions that the paper broker told of add up to, by account and symbol. Once a minute it is asked what its
-- accounts hold, and summed all that they had ever executed.
create table paper_total (
  account_id bigint not null references account,
  symbol text not null,
  quantity numeric not null check (quantity > '-Infinity' and quantity < 'Infinity'),
  primary key (account_id, symbol)
);

-- What a worker tells of meanwhile waits: it would be in neither the sum nor what is added to it.
lock table paper_report in share row exclusive mode;
insert into paper_total (account_id, symbol, quantity)
select account_id, symbol, sum(case when (side = '1') = (kind = 'fill') then quantity else -quantity end)
from paper_report where kind in ('fill', 'bust') group by account_id, symbol;

-- In the order of their key, so that batches cannot block each other. A change is of the symbol, which a split gives an
-- option; that something was delivered moves nothing. An execution that was told of is never deleted.
create function paper_adds_up() returns trigger language plpgsql as $$
begin
  execute format('
    insert into paper_total as t (account_id, symbol, quantity)
    select account_id, symbol, sum(moved) from (
      select account_id, symbol, sign * case when (side = ''1'') = (kind = ''fill'') then quantity else -quantity end as moved
      from (%s) reports where kind in (''fill'', ''bust'')) moves
    group by account_id, symbol having sum(moved) <> 0 order by account_id, symbol
    on conflict (account_id, symbol) do update set quantity = t.quantity + excluded.quantity',
    case tg_op when 'INSERT' then 'select 1 as sign, * from told'
      else 'select 1 as sign, * from told union all select -1, * from gone' end);
  return null;
end $$;

create trigger paper_adds_up_told after insert on paper_report
  referencing new table as told for each statement execute function paper_adds_up();
create trigger paper_adds_up_changed after update on paper_report
  referencing old table as gone new table as told for each statement execute function paper_adds_up();
