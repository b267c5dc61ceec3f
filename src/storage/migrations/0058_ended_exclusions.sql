-- When a symbol that an account leaves alone was followed again: what is shown with its settings changed at that moment.
alter table setup_exclusion add column ended_at timestamptz;
