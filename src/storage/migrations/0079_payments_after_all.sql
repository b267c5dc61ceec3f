-- The last change of plans that had been asked for when its holder chose how to go on: paid after that, it leaves the choice.
alter table subscription add column chosen_after_charge_id bigint;

-- A fee on gains that a wrong price made is let go with its settlement: what is settled next goes on from the one before.
alter table fee_settlement add column is_void boolean not null default false;
