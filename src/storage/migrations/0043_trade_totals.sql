-- A trade that is added to and reduced for long turns over more than a position ever holds.

alter table trade alter column opened_qty type numeric, alter column closed_qty type numeric,
  add check (opened_qty > '-Infinity' and opened_qty < 'Infinity'),
  add check (closed_qty > '-Infinity' and closed_qty < 'Infinity');
