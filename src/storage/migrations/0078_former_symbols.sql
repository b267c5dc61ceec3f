-- Symbols that an instrument had before a split listed it anew. A broker may tell of a trade of then when another has it.
create table former_symbol (
  symbol text not null,
  until timestamptz not null,
  instrument_id bigint not null references instrument (id),
  primary key (symbol, until)
);
