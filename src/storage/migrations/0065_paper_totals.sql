-- What the executions that the paper broker told of add up to, by account and symbol. Once a minute it is asked what its
-- accounts hold, and summed all that they had ever executed.
create table paper_total (
  account_id bigint not null references account,
  symbol text not null,
  quantity numeric not null check (quantity > '-Infinity' and quantity < 'Infinity'),
  primary key (account_id, symbol)
);

insert into paper_total (account_id, symbol, quantity)
select account_id, symbol, sum(case when (side = '1') = (kind = 'fill') then quantity else -quantity end)
from paper_report where kind in ('fill', 'bust') group by account_id, symbol;

-- In the order of their key, so that batches cannot block each other.
create function paper_adds_up() returns trigger language plpgsql as $$
begin
  insert into paper_total as t (account_id, symbol, quantity)
  select account_id, symbol, sum(case when (side = '1') = (kind = 'fill') then quantity else -quantity end)
  from told where kind in ('fill', 'bust') group by account_id, symbol order by account_id, symbol
  on conflict (account_id, symbol) do update set quantity = t.quantity + excluded.quantity;
  return null;
end $$;

create trigger paper_adds_up after insert on paper_report
  referencing new table as told for each statement execute function paper_adds_up();

-- A split may give an option another symbol.
create function paper_adds_up_anew() returns trigger language plpgsql as $$
begin
  update paper_total
  set quantity = quantity - case when (old.side = '1') = (old.kind = 'fill') then old.quantity else -old.quantity end
  where account_id = old.account_id and symbol = old.symbol;
  if tg_op = 'UPDATE' then
    insert into paper_total as t (account_id, symbol, quantity)
    values (new.account_id, new.symbol,
      case when (new.side = '1') = (new.kind = 'fill') then new.quantity else -new.quantity end)
    on conflict (account_id, symbol) do update set quantity = t.quantity + excluded.quantity;
  end if;
  return null;
end $$;

create trigger paper_adds_up_anew after update of account_id, symbol, side, quantity or delete on paper_report
  for each row when (old.kind in ('fill', 'bust')) execute function paper_adds_up_anew();
