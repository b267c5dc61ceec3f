-- What comes back finds its place: a strategy in a catalog the name and markup that the site had given it, and a person
-- who was removed the address, which only living people keep from others.

create table site_catalog_past (
  site_id bigint not null references site (id),
  strategy_id bigint not null references strategy (id),
  display_name text,
  markup minor_units not null,
  primary key (site_id, strategy_id)
);

drop index person_email;
create unique index person_email on person (lower(email)) where is_alive;
