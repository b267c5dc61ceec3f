-- Margin calls: a mark that moved may call for margin, so every holder of its instrument is looked at once.

alter table quote add column margin_due boolean not null default false;
create index quote_margin_due on quote (instrument_id) where margin_due;
create index position_held on position (instrument_id) where quantity <> 0;
