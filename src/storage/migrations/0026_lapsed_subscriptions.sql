-- Whose subscription is paid again, or begins, is brought in step at once: while it was not, nothing was opened.
create function subscription_revives() returns trigger language plpgsql as $$
begin
  insert into sync_due (setup_id, due_at)
  select setup.id, new.term_started_at from setup join account a on a.id = setup.account_id
  where a.person_id = new.person_id and setup.strategy_id = new.strategy_id and setup.stopped_at is null
  order by setup.id
  on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at);
  return null;
end $$;
create trigger subscription_revives after update of status on subscription for each row
  when (new.status = 'active' and old.status <> 'active' and new.strategy_id is not null)
  execute function subscription_revives();
