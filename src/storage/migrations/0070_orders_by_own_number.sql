-- Orders that the platform adds of itself are asked for by their own number (`orders why`). Copies have none and cost
-- nothing here.
create index account_order_own_number on account_order (own_number) where own_number is not null;
