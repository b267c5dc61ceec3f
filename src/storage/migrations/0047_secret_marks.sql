-- By what the secrets of an installation are known again; they themselves are kept outside the database.

create table secret_mark (
  name text primary key,
  mark bytea not null
);
