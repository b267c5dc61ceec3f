-- What has served its time is looked for in every round of a worker, and so by an index.
create index dashboard_session_created on dashboard_session (created_at);
create index email_confirmation_expires on email_confirmation (expires_at) where confirmed_at is null;
create index webhook_delivery_delivered on webhook_delivery (delivered_at) where delivered_at is not null;
drop index webhook_delivery_given_up;
create index webhook_delivery_given_up on webhook_delivery (endpoint_id, created_at)
  where delivered_at is null and next_try_at is null;

-- On how many days somebody has signed in is asked of everybody who simulates: from the index, not from every row.
drop index sign_in_person;
create index sign_in_person on sign_in (person_id, occurred_at) include (outcome);
