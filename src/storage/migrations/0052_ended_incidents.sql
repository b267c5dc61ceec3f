-- Incidents are ended by an operator's word; none is ever taken away, lest it is raised again.
alter table incident add column ended_at timestamptz;
