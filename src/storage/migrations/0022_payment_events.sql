-- An event tells of an attempt at a charge. No provider has told anything before this.
delete from payment_event;
alter table payment_event add column charge_id bigint not null references charge, add column attempt integer not null;
create index payment_event_charge on payment_event (charge_id);
