-- When the terms of a strategy changed last: a caller who asks for changes only is told of them too.

alter table strategy add column terms_changed_at timestamptz;
