-- What is due, and what is under way, is looked for endpoint by endpoint: of others' deliveries, and of those long taken,
-- nothing is read for it.
drop index webhook_delivery_due;
create index webhook_delivery_due on webhook_delivery (endpoint_id, next_try_at, id) where next_try_at is not null;
create index webhook_delivery_claimed on webhook_delivery (endpoint_id) where claimed_until is not null;
