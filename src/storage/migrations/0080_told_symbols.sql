-- Whether the symbol is its broker's own word, of the time when it occurred: a split of before that time changed it already.
alter table broker_report add column is_told boolean not null default false;
