-- Whether a follower subscribes is asked for every order: by the two columns together, or all who subscribe to the
-- strategy are read for each of its followers.
create index subscription_of_person on subscription (person_id, strategy_id) where strategy_id is not null;
