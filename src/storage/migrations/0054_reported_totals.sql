-- What its broker counts as executed of an order, with this execution: whether an execution is one of those that were
-- inferred from a total, or new beyond them.
alter table broker_report add column cum_qty quantity;
alter table paper_report add column cum_qty quantity;
