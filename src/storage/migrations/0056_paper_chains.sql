-- Which order of the account an order of the paper broker's book took the place of: what is taken back of that one is
-- worked again by this one.
alter table paper_order add column replaces text;
