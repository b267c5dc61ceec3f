-- Indexes that no statement looks anything up by, and that every write of their rows paid for. The rows that they would
-- help to take away stay: fills keep their trades, transfers their accounts, deliveries and requests each other.
drop index fill_trade;
drop index strategy_statistics_return;
drop index strategy_statistics_sharpe;
drop index ledger_transfer_from;
drop index ledger_transfer_to;
drop index payment_event_charge;
drop index fee_settlement_subscription;
drop index webhook_delivery_request;
drop index approval_request_superseded_by;
drop index simulation_strategy;
drop index site_catalog_strategy;
drop index watch_list_member_strategy;
-- What was written and never read.
alter table strategy_statistics drop column valued_day, drop column cumulative_percent;
