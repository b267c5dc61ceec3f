-- Beside carried_qty, what it cost: of the orders that had ended before, and not of this one.
alter table account_order
  add column carried_value numeric not null default 0 check (carried_value > '-Infinity' and carried_value < 'Infinity');
update account_order o set carried_value = coalesce((
    select p.filled_value from account_order p
    where p.account_id = o.account_id and p.id = o.replaces_order_id and p.cum_qty = o.carried_qty
  ), o.carried_qty * coalesce(o.avg_px, 0))
where o.carried_qty <> 0;
