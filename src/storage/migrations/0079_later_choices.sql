-- The last change of plans that had been asked for when its holder chose how to go on: paid after that, it leaves the choice.
alter table subscription add column chosen_after_charge_id bigint;
