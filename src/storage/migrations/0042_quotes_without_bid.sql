-- A quote at which nobody can sell says nothing about what a long position is worth: the bid before it stays the mark.

alter table quote add column has_bid boolean not null default true;
