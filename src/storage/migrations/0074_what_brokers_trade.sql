-- What the adapter of a broker can trade at all; null where it says nothing of that. Written by the workers, which alone
-- know the adapters, and read by whoever plans or looks at what follows there.
alter table broker add column traded_types text[], add column traded_currency text;
