create domain amount as numeric(200,12) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain currency as text CHECK ((VALUE ~ '^[A-Z]{3}$'::text));
create domain entered_amount as numeric(24,12) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain entered_factor as numeric(24,12) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain entered_price as numeric(24,12) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain entered_quantity as numeric(20,8) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain executed_quantity as numeric(200,8) CHECK (((VALUE >= (0)::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain exit_role as text CHECK ((VALUE = ANY (ARRAY['profitTarget'::text, 'stopLoss'::text])));
create domain factor as numeric(200,12) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain figure as double precision CHECK (((VALUE > '-Infinity'::double precision) AND (VALUE < 'Infinity'::double precision)));
create domain generation as smallint CHECK ((VALUE >= 0));
create domain minor_units as bigint CHECK ((VALUE >= 0));
create domain ord_status as text CHECK ((VALUE = ANY (ARRAY['A'::text, '0'::text, '1'::text, '2'::text, '4'::text, '5'::text, '6'::text, '8'::text, 'C'::text, 'E'::text])));
create domain ord_type as text CHECK ((VALUE = ANY (ARRAY['1'::text, '2'::text, '3'::text])));
create domain ordered_quantity as numeric(200,8) CHECK (((VALUE > (0)::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain position_effect as text CHECK ((VALUE = ANY (ARRAY['O'::text, 'C'::text])));
create domain price as numeric(200,12) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain quantity as numeric(200,8) CHECK (((VALUE > '-Infinity'::numeric) AND (VALUE < 'Infinity'::numeric)));
create domain security_type as text CHECK ((VALUE = ANY (ARRAY['CS'::text, 'FUT'::text, 'OPT'::text, 'FOR'::text])));
create domain side as text CHECK ((VALUE = ANY (ARRAY['1'::text, '2'::text])));
create domain signal_type as smallint CHECK ((VALUE = ANY (ARRAY[1, 4, 5, 6])));
create domain time_in_force as text CHECK ((VALUE = ANY (ARRAY['0'::text, '1'::text])));

create table access_key (
  id bigint not null generated always as identity,
  person_id bigint not null,
  key_id text not null,
  secret_hash bytea not null,
  masked text not null,
  comment text not null default ''::text,
  limits jsonb,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint access_key_pkey PRIMARY KEY (id),
  constraint access_key_key_id_key UNIQUE (key_id),
  constraint access_key_secret_hash_key UNIQUE (secret_hash),
  constraint access_key_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE INDEX access_key_person ON public.access_key USING btree (person_id);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF person_id, key_id, limits, expires_at, deleted_at, comment ON public.access_key FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'person_id,key_id,limits,expires_at,deleted_at', 'comment');

create table account (
  id bigint not null generated always as identity,
  site_id bigint not null,
  person_id bigint not null,
  broker_id integer not null,
  broker_environment text not null,
  kind smallint not null,
  account text not null,
  currency text not null default 'USD'::text,
  starting_cash amount not null,
  cash amount not null,
  is_sync_enabled boolean not null default true,
  sync_disabled_reason text,
  is_autotrade_disabled boolean not null default false,
  autotrade_disabled_reason text,
  ignore_manual_orders boolean not null default false,
  settings_changed_at timestamp with time zone not null,
  authenticated_at timestamp with time zone,
  created_at timestamp with time zone not null,
  broker_user_id text,
  introducing_broker_id bigint,
  introducing_broker text,
  sales_rep_id bigint,
  sales_rep text,
  broker_authorization text not null default 'NotRequired'::text,
  xid xid8 not null default pg_current_xact_id(),
  constraint account_pkey PRIMARY KEY (id),
  constraint account_broker_id_account_key UNIQUE (broker_id, account),
  constraint account_broker_id_broker_environment_fkey FOREIGN KEY (broker_id, broker_environment) REFERENCES broker(id, environment),
  constraint account_broker_id_fkey FOREIGN KEY (broker_id) REFERENCES broker(id),
  constraint account_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint account_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint account_broker_authorization_check CHECK ((broker_authorization = ANY (ARRAY['NotRequired'::text, 'Pending'::text, 'Authorized'::text, 'Revoked'::text]))),
  constraint account_check CHECK (((kind = 0) = (broker_environment = 'live'::text))),
  constraint account_kind_check CHECK ((kind = ANY (ARRAY[0, 1, 2])))
);
CREATE INDEX account_number ON public.account USING btree (account);
CREATE INDEX account_person ON public.account USING btree (person_id);
CREATE INDEX account_site ON public.account USING btree (site_id);
CREATE INDEX account_xid ON public.account USING btree (xid);
CREATE TRIGGER account_accepts AFTER UPDATE OF is_sync_enabled ON public.account FOR EACH ROW WHEN ((new.is_sync_enabled AND (NOT old.is_sync_enabled))) EXECUTE FUNCTION account_accepts();
CREATE TRIGGER account_begins AFTER INSERT ON public.account FOR EACH ROW EXECUTE FUNCTION account_begins();
CREATE TRIGGER account_connects AFTER INSERT ON public.account FOR EACH ROW EXECUTE FUNCTION account_connects();
CREATE TRIGGER account_syncs AFTER UPDATE OF is_sync_enabled, is_autotrade_disabled ON public.account FOR EACH ROW WHEN (((new.is_sync_enabled AND (NOT old.is_sync_enabled)) OR (old.is_autotrade_disabled AND (NOT new.is_autotrade_disabled)))) EXECUTE FUNCTION account_syncs();
CREATE TRIGGER account_turns AFTER UPDATE OF is_autotrade_disabled, broker_authorization ON public.account FOR EACH ROW WHEN (((new.is_autotrade_disabled <> old.is_autotrade_disabled) OR (new.broker_authorization <> old.broker_authorization))) EXECUTE FUNCTION account_turns();
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF site_id, person_id, broker_id, kind, currency, starting_cash, is_sync_enabled, sync_disabled_reason, is_autotrade_disabled, autotrade_disabled_reason, ignore_manual_orders, authenticated_at, introducing_broker_id, introducing_broker, sales_rep_id, broker_authorization, account, broker_user_id, sales_rep ON public.account FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'site_id,person_id,broker_id,kind,currency,starting_cash,is_sync_enabled,sync_disabled_reason,is_autotrade_disabled,autotrade_disabled_reason,ignore_manual_orders,authenticated_at,introducing_broker_id,introducing_broker,sales_rep_id,broker_authorization,account', 'broker_user_id,sales_rep');

create table account_adjustment (
  action_id bigint not null,
  setup_id bigint,
  account_id bigint not null,
  quantity_before quantity not null,
  quantity_change quantity not null,
  cash_change amount not null,
  constraint account_adjustment_ledger UNIQUE NULLS NOT DISTINCT (action_id, setup_id, account_id),
  constraint account_adjustment_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint account_adjustment_action_id_fkey FOREIGN KEY (action_id) REFERENCES corporate_action(id),
  constraint account_adjustment_setup_id_fkey FOREIGN KEY (setup_id) REFERENCES setup(id)
);
CREATE INDEX account_adjustment_account ON public.account_adjustment USING btree (account_id);

create table account_credential (
  account_id bigint not null,
  key_id text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  changed_at timestamp with time zone not null,
  constraint account_credential_pkey PRIMARY KEY (account_id),
  constraint account_credential_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id)
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF key_id, sealed ON public.account_credential FOR EACH ROW EXECUTE FUNCTION audit_change('account_id', 'key_id', 'sealed');

create table account_day (
  account_id bigint not null,
  day date not null,
  cash amount not null,
  value amount not null,
  constraint account_day_pkey PRIMARY KEY (account_id, day),
  constraint account_day_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id)
);

create table account_entry (
  id bigint not null generated always as identity,
  account_id bigint not null,
  setup_id bigint,
  kind text not null,
  cash_change amount not null,
  booked_at timestamp with time zone not null,
  constraint account_entry_pkey PRIMARY KEY (id),
  constraint account_entry_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint account_entry_setup_id_fkey FOREIGN KEY (setup_id) REFERENCES setup(id),
  constraint account_entry_kind_check CHECK ((kind = 'reset'::text))
);
CREATE INDEX account_entry_account ON public.account_entry USING btree (account_id);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF account_id, setup_id, kind, cash_change ON public.account_entry FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'account_id,setup_id,kind,cash_change', '');

create table account_event (
  id bigint not null generated always as identity,
  account_id bigint not null,
  kind text not null,
  occurred_at timestamp with time zone not null,
  constraint account_event_pkey PRIMARY KEY (id),
  constraint account_event_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint account_event_kind_check CHECK ((kind = ANY (ARRAY['connect'::text, 'disconnect'::text, 'disable'::text])))
);
CREATE INDEX account_event_account ON public.account_event USING btree (account_id, id);

create table account_order (
  account_id bigint not null,
  id bigint not null generated always as identity,
  broker_id integer not null,
  setup_id bigint not null,
  strategy_id bigint not null,
  source text not null default 'S'::text,
  source_id bigint not null,
  revision integer not null default 0,
  instrument_id bigint not null,
  signal_type smallint not null default 1,
  side side not null,
  ord_type ord_type not null,
  time_in_force time_in_force not null,
  position_effect position_effect not null,
  order_qty quantity not null,
  limit_px price,
  stop_px price,
  status ord_status not null default 'A'::text,
  cum_qty quantity not null default 0,
  avg_px price,
  filled_value numeric not null default 0,
  is_acknowledged boolean not null default false,
  signal_filled_before quantity not null default 0,
  replaces_order_id bigint,
  carried_qty quantity not null default 0,
  posted_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  chase_at timestamp with time zone,
  pending_action text,
  attempts integer not null default 0,
  claimed_until timestamp with time zone,
  claim_fence bigint,
  unknown_at timestamp with time zone,
  reject_text text,
  info text,
  reason text,
  strategy_qty quantity not null,
  scaling_percentage integer not null,
  limit_value quantity,
  held_qty quantity not null,
  reference_px price,
  setup_fence bigint not null,
  xid xid8 not null default pg_current_xact_id(),
  confirm_by timestamp with time zone,
  confirmed_at timestamp with time zone,
  own_number bigint,
  carried_value numeric not null default 0,
  constraint account_order_pkey PRIMARY KEY (account_id, id),
  constraint account_order_source_id_setup_id_source_revision_key UNIQUE (source_id, setup_id, source, revision),
  constraint account_order_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint account_order_carried_value_check CHECK (((carried_value > '-Infinity'::numeric) AND (carried_value < 'Infinity'::numeric))),
  constraint account_order_check CHECK ((confirmed_at < confirm_by)),
  constraint account_order_cum_qty_check CHECK (((cum_qty)::numeric >= (0)::numeric)),
  constraint account_order_filled_value_check CHECK (((filled_value > '-Infinity'::numeric) AND (filled_value < 'Infinity'::numeric))),
  constraint account_order_order_qty_check CHECK (((order_qty)::numeric > (0)::numeric)),
  constraint account_order_own_number_check CHECK (((own_number IS NULL) = (source = ANY (ARRAY['S'::text, 'M'::text])))),
  constraint account_order_pending_action_check CHECK ((pending_action = ANY (ARRAY['new'::text, 'cancel'::text, 'replace'::text]))),
  constraint account_order_signal_type_check CHECK ((signal_type = ANY (ARRAY[1, 4, 5, 6]))),
  constraint account_order_source_check CHECK ((source = ANY (ARRAY['S'::text, 'Y'::text, 'M'::text, 'L'::text, 'X'::text])))
);
CREATE INDEX account_order_chase ON public.account_order USING btree (chase_at) WHERE (chase_at IS NOT NULL);
CREATE INDEX account_order_live ON public.account_order USING btree (setup_id, instrument_id) WHERE ((status)::text = ANY (ARRAY['A'::text, '0'::text, '1'::text, '6'::text, 'E'::text]));
CREATE INDEX account_order_own_number ON public.account_order USING btree (own_number) WHERE (own_number IS NOT NULL);
CREATE INDEX account_order_pending ON public.account_order USING btree (broker_id, account_id, id) WHERE (pending_action IS NOT NULL);
CREATE INDEX account_order_rejected ON public.account_order USING btree (setup_id, instrument_id, id) WHERE ((status)::text = '8'::text);
CREATE INDEX account_order_replaces ON public.account_order USING btree (account_id, replaces_order_id) WHERE (replaces_order_id IS NOT NULL);
CREATE INDEX account_order_unconfirmed ON public.account_order USING btree (confirm_by) WHERE ((confirm_by IS NOT NULL) AND (confirmed_at IS NULL) AND (pending_action IS NOT NULL));
CREATE INDEX account_order_unknown ON public.account_order USING btree (account_id, instrument_id) WHERE (unknown_at IS NOT NULL);
CREATE INDEX account_order_xid ON public.account_order USING btree (xid, id);

create table account_position (
  setup_id bigint,
  instrument_id bigint not null,
  account_id bigint not null,
  strategy_id bigint,
  quantity quantity not null,
  avg_px price,
  opened_at timestamp with time zone,
  constraint account_position_ledger UNIQUE NULLS NOT DISTINCT (setup_id, instrument_id, account_id),
  constraint account_position_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint account_position_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint account_position_setup_id_fkey FOREIGN KEY (setup_id) REFERENCES setup(id),
  constraint account_position_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint account_position_check CHECK ((((quantity)::numeric = (0)::numeric) = (avg_px IS NULL))),
  constraint account_position_owner CHECK (((setup_id IS NULL) = (strategy_id IS NULL)))
);
CREATE INDEX account_position_account ON public.account_position USING btree (account_id);

create table account_record (
  account_id bigint not null,
  closed_day date,
  stale_from date,
  next_close_at timestamp with time zone not null,
  moved_at timestamp with time zone,
  constraint account_record_pkey PRIMARY KEY (account_id),
  constraint account_record_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id)
);
CREATE INDEX account_record_next ON public.account_record USING btree (next_close_at);

create table account_skip (
  signal_id bigint not null,
  setup_id bigint not null,
  account_id bigint not null,
  code text not null,
  strategy_qty quantity not null,
  scaling_percentage integer not null,
  limit_value quantity,
  held_qty quantity not null,
  reference_px price,
  skipped_at timestamp with time zone not null,
  constraint account_skip_pkey PRIMARY KEY (signal_id, setup_id)
);

create table approval_request (
  id uuid not null,
  account_id bigint not null,
  strategy_id bigint not null,
  action text not null,
  status text not null,
  choices jsonb not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  failure text,
  xid xid8 not null default pg_current_xact_id(),
  superseded_by uuid,
  announced_at timestamp with time zone,
  constraint approval_request_pkey PRIMARY KEY (id),
  constraint approval_request_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint approval_request_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint approval_request_superseded_by_fkey FOREIGN KEY (superseded_by) REFERENCES approval_request(id),
  constraint approval_request_action_check CHECK ((action = ANY (ARRAY['start'::text, 'stop'::text]))),
  constraint approval_request_check CHECK (((status = ANY (ARRAY['PendingCustomer'::text, 'Processing'::text, 'PendingBroker'::text])) = (ended_at IS NULL))),
  constraint approval_request_check1 CHECK (((status = 'Superseded'::text) = (superseded_by IS NOT NULL))),
  constraint approval_request_status_check CHECK ((status = ANY (ARRAY['PendingCustomer'::text, 'Processing'::text, 'PendingBroker'::text, 'Completed'::text, 'Failed'::text, 'Expired'::text, 'Superseded'::text])))
);
CREATE INDEX approval_request_expires ON public.approval_request USING btree (expires_at) WHERE (status = 'PendingCustomer'::text);
CREATE UNIQUE INDEX approval_request_live ON public.approval_request USING btree (account_id, strategy_id) WHERE (status = ANY (ARRAY['PendingCustomer'::text, 'Processing'::text, 'PendingBroker'::text]));
CREATE INDEX approval_request_unannounced ON public.approval_request USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (announced_at IS NULL));
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF account_id, strategy_id, action, status, failure, superseded_by, choices ON public.approval_request FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'account_id,strategy_id,action,status,failure,superseded_by', 'choices');

create table approved_account (
  id bigint not null generated always as identity,
  connection_type smallint not null,
  person_id bigint not null,
  broker_id integer not null,
  account text not null,
  is_cfd boolean not null default false,
  added_by_person_id bigint not null,
  added_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint approved_account_pkey PRIMARY KEY (id),
  constraint approved_account_connection_type_broker_id_account_key UNIQUE (connection_type, broker_id, account),
  constraint approved_account_added_by_person_id_fkey FOREIGN KEY (added_by_person_id) REFERENCES person(id),
  constraint approved_account_broker_id_fkey FOREIGN KEY (broker_id) REFERENCES broker(id),
  constraint approved_account_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint approved_account_connection_type_check CHECK ((connection_type = ANY (ARRAY[0, 1])))
);
CREATE INDEX approved_account_person ON public.approved_account USING btree (person_id);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF connection_type, person_id, broker_id, account, is_cfd, added_by_person_id, deleted_at ON public.approved_account FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'connection_type,person_id,broker_id,account,is_cfd,added_by_person_id,deleted_at', '');

create table audit_chain (
  chain bigint not null,
  seq bigint not null,
  hash bytea not null,
  constraint audit_chain_pkey PRIMARY KEY (chain)
);

create table audit_entry (
  id bigint not null generated always as identity,
  chain bigint not null,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  occurred_at timestamp with time zone not null,
  actor text not null,
  who text,
  key_id text,
  operation text not null,
  object text not null,
  request_id text,
  before jsonb,
  after jsonb,
  seq bigint,
  hash bytea,
  constraint audit_entry_pkey PRIMARY KEY (id),
  constraint audit_entry_chain_seq_key UNIQUE (chain, seq),
  constraint audit_entry_actor_check CHECK ((actor = ANY (ARRAY['person'::text, 'operator'::text, 'worker'::text, 'platform'::text]))),
  constraint audit_entry_check CHECK (((seq IS NULL) = (hash IS NULL))),
  constraint audit_entry_seq_check CHECK ((seq > 0))
);
CREATE INDEX audit_entry_unsealed ON public.audit_entry USING btree (id) WHERE (hash IS NULL);
CREATE TRIGGER audit_entry_is_final BEFORE DELETE OR UPDATE ON public.audit_entry FOR EACH ROW EXECUTE FUNCTION audit_entry_is_final();
CREATE TRIGGER audit_entry_stays BEFORE TRUNCATE ON public.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION audit_entry_is_final();

create table broker (
  id integer not null generated always as identity,
  name text not null,
  connection_name text not null,
  environment text not null,
  adapter text not null,
  is_enabled boolean not null default true,
  needs_authorization boolean not null default false,
  needs_credentials boolean not null default false,
  changed_at timestamp with time zone,
  traded_types text[],
  traded_currency text,
  constraint broker_pkey PRIMARY KEY (id),
  constraint broker_id_environment_key UNIQUE (id, environment),
  constraint broker_name_key UNIQUE (name),
  constraint broker_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'paper'::text])))
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF name, connection_name, environment, adapter, is_enabled, needs_authorization, needs_credentials ON public.broker FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'name,connection_name,environment,adapter,is_enabled,needs_authorization,needs_credentials', '');

create table broker_pull (
  account_id bigint not null,
  pulled_until timestamp with time zone not null,
  constraint broker_pull_pkey PRIMARY KEY (account_id),
  constraint broker_pull_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id)
);

create table broker_report (
  id bigint not null generated always as identity,
  broker_id integer not null,
  report_key text not null,
  account_id bigint not null,
  client_order_id text,
  kind text not null,
  symbol text not null,
  side side,
  quantity quantity,
  px price,
  text text,
  occurred_at timestamp with time zone not null,
  applied_at timestamp with time zone,
  cum_qty quantity,
  is_told boolean not null default false,
  constraint broker_report_pkey PRIMARY KEY (id),
  constraint broker_report_broker_id_account_id_report_key_key UNIQUE (broker_id, account_id, report_key),
  constraint broker_report_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint broker_report_broker_id_fkey FOREIGN KEY (broker_id) REFERENCES broker(id),
  constraint broker_report_kind_check CHECK ((kind = ANY (ARRAY['ack'::text, 'fill'::text, 'bust'::text, 'cancel'::text, 'reject'::text, 'cancelReject'::text, 'cancelUnknown'::text, 'replace'::text, 'replaceReject'::text, 'expire'::text, 'total'::text, 'delink'::text, 'marginCall'::text, 'patternDayTrader'::text, 'restriction'::text])))
);
CREATE INDEX broker_report_bust ON public.broker_report USING btree (broker_id, account_id, text) WHERE (kind = 'bust'::text);
CREATE INDEX broker_report_unapplied ON public.broker_report USING btree (account_id, id) WHERE (applied_at IS NULL);
CREATE TRIGGER account_is_cut_off AFTER INSERT ON public.broker_report FOR EACH ROW WHEN ((new.kind = 'delink'::text)) EXECUTE FUNCTION account_is_cut_off();

create table charge (
  id bigint not null generated always as identity,
  subscription_id bigint not null,
  purpose text not null,
  period_started_at timestamp with time zone not null,
  period_ends_at timestamp with time zone not null,
  base_price minor_units not null,
  markup minor_units not null,
  amount bigint not null generated always as (((base_price)::bigint + (markup)::bigint)) stored,
  currency currency not null,
  provider text not null,
  status text not null default 'due'::text,
  attempts integer not null default 0,
  next_try_at timestamp with time zone,
  claimed_until timestamp with time zone,
  payment_ref text,
  failure_reason text,
  failed_at timestamp with time zone,
  paid_at timestamp with time zone,
  plan_id bigint,
  plan_price minor_units,
  constraint charge_is_settled TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint charge_pkey PRIMARY KEY (id),
  constraint charge_subscription_id_purpose_period_started_at_key UNIQUE (subscription_id, purpose, period_started_at),
  constraint charge_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plan(id),
  constraint charge_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id),
  constraint charge_amount_check CHECK ((amount > 0)),
  constraint charge_attempts_check CHECK ((attempts >= 0)),
  constraint charge_check CHECK ((period_ends_at > period_started_at)),
  constraint charge_check1 CHECK (((status = 'due'::text) = (next_try_at IS NOT NULL))),
  constraint charge_check2 CHECK (((status = 'paid'::text) = (paid_at IS NOT NULL))),
  constraint charge_check3 CHECK (((status <> 'failed'::text) OR (failed_at IS NOT NULL))),
  constraint charge_check4 CHECK (((purpose = 'upgrade'::text) = (plan_id IS NOT NULL))),
  constraint charge_provider_check CHECK ((provider = ANY (ARRAY['simulated'::text, 'stripe'::text]))),
  constraint charge_purpose_check CHECK ((purpose = ANY (ARRAY['term'::text, 'upgrade'::text, 'performance'::text]))),
  constraint charge_status_check CHECK ((status = ANY (ARRAY['due'::text, 'paid'::text, 'failed'::text, 'waived'::text])))
);
ALTER TABLE charge ALTER COLUMN subscription_id SET (n_distinct=-0.1);
CREATE INDEX charge_due ON public.charge USING btree (next_try_at) WHERE (status = 'due'::text);
CREATE UNIQUE INDEX charge_payment ON public.charge USING btree (provider, payment_ref) WHERE (payment_ref IS NOT NULL);
CREATE CONSTRAINT TRIGGER charge_is_settled AFTER UPDATE OF status ON public.charge DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION charge_is_settled();

create table corporate_action (
  id bigint not null generated always as identity,
  instrument_id bigint not null,
  kind text not null,
  ex_date date not null,
  amount entered_price,
  new_units entered_quantity,
  old_units entered_quantity,
  resizes boolean not null default false,
  takes_effect_at timestamp with time zone not null,
  imported_at timestamp with time zone not null,
  booked_at timestamp with time zone,
  constraint corporate_action_pkey PRIMARY KEY (id),
  constraint corporate_action_instrument_id_kind_ex_date_key UNIQUE (instrument_id, kind, ex_date),
  constraint corporate_action_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint corporate_action_check CHECK (((kind <> 'dividend'::text) OR ((amount)::numeric > (0)::numeric))),
  constraint corporate_action_check1 CHECK (((kind = 'split'::text) = (amount IS NULL))),
  constraint corporate_action_check2 CHECK (((kind = 'split'::text) = ((new_units IS NOT NULL) AND (old_units IS NOT NULL)))),
  constraint corporate_action_kind_check CHECK ((kind = ANY (ARRAY['dividend'::text, 'settlement'::text, 'split'::text]))),
  constraint corporate_action_new_units_check CHECK (((new_units)::numeric > (0)::numeric)),
  constraint corporate_action_old_units_check CHECK (((old_units)::numeric > (0)::numeric))
);
CREATE INDEX corporate_action_due ON public.corporate_action USING btree (takes_effect_at) WHERE (booked_at IS NULL);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF instrument_id, kind, ex_date, amount, new_units, old_units, takes_effect_at ON public.corporate_action FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'instrument_id,kind,ex_date,amount,new_units,old_units,takes_effect_at', '');

create table daily_mark (
  instrument_id bigint not null,
  day date not null,
  bid price not null,
  ask price not null,
  constraint daily_mark_pkey PRIMARY KEY (instrument_id, day),
  constraint daily_mark_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id)
);

create table dashboard_session (
  id bigint not null generated always as identity,
  person_id bigint not null,
  csrf_hash bytea not null,
  created_at timestamp with time zone not null,
  constraint dashboard_session_pkey PRIMARY KEY (id),
  constraint dashboard_session_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE INDEX dashboard_session_created ON public.dashboard_session USING btree (created_at);
CREATE INDEX dashboard_session_person ON public.dashboard_session USING btree (person_id);

create table email_confirmation (
  id bigint not null generated always as identity,
  person_id bigint not null,
  email text not null,
  token_hash bytea not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  constraint email_confirmation_pkey PRIMARY KEY (id),
  constraint email_confirmation_token_hash_key UNIQUE (token_hash),
  constraint email_confirmation_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE INDEX email_confirmation_expires ON public.email_confirmation USING btree (expires_at) WHERE (confirmed_at IS NULL);
CREATE INDEX email_confirmation_person ON public.email_confirmation USING btree (person_id);

create table execution (
  broker_id integer not null,
  account_id bigint not null,
  exec_id text not null,
  order_id bigint,
  setup_id bigint,
  instrument_id bigint not null,
  side side not null,
  quantity quantity not null,
  px price not null,
  commission amount not null default 0,
  cash_change amount not null,
  executed_at timestamp with time zone not null,
  xid xid8 not null default pg_current_xact_id(),
  busts text,
  id bigint not null generated always as identity,
  is_inferred boolean not null default false,
  fx factor not null,
  constraint execution_pkey PRIMARY KEY (broker_id, account_id, exec_id),
  constraint execution_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint execution_broker_id_fkey FOREIGN KEY (broker_id) REFERENCES broker(id),
  constraint execution_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint execution_quantity_check CHECK (((quantity)::numeric > (0)::numeric))
);
CREATE INDEX execution_busts ON public.execution USING btree (account_id, busts) WHERE (busts IS NOT NULL);
CREATE INDEX execution_inferred ON public.execution USING btree (account_id, order_id) WHERE is_inferred;
CREATE INDEX execution_order ON public.execution USING btree (account_id, order_id);
CREATE INDEX execution_own ON public.execution USING btree (account_id) WHERE (setup_id IS NULL);
CREATE INDEX execution_time ON public.execution USING brin (executed_at);

create table fee_settlement (
  setup_id bigint not null,
  settled_at timestamp with time zone not null,
  subscription_id bigint not null,
  percent integer not null,
  capital amount not null,
  gain amount not null,
  fee amount not null,
  charged minor_units not null,
  units amount not null,
  price factor not null,
  mark factor not null,
  fees amount not null,
  carried amount not null default 0,
  is_void boolean not null default false,
  constraint fee_settlement_pkey PRIMARY KEY (setup_id, settled_at),
  constraint fee_settlement_setup_id_fkey FOREIGN KEY (setup_id) REFERENCES setup(id),
  constraint fee_settlement_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id),
  constraint fee_settlement_capital_check CHECK (((capital)::numeric > (0)::numeric)),
  constraint fee_settlement_check CHECK (((fees)::numeric >= (fee)::numeric)),
  constraint fee_settlement_fee_check CHECK (((fee)::numeric >= (0)::numeric)),
  constraint fee_settlement_percent_check CHECK (((percent >= 0) AND (percent <= 100))),
  constraint fee_settlement_units_check CHECK (((units)::numeric > (0)::numeric))
);

create table fill (
  id bigint not null generated always as identity,
  exec_id text not null,
  signal_id bigint not null,
  strategy_id bigint not null,
  instrument_id bigint not null,
  side side not null,
  quantity quantity not null,
  px price not null,
  fx factor not null,
  commission amount not null default 0,
  cash_change amount not null,
  filled_at timestamp with time zone not null,
  trade_id bigint,
  constraint fill_pkey PRIMARY KEY (id),
  constraint fill_exec_id_key UNIQUE (exec_id),
  constraint fill_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint fill_signal_id_fkey FOREIGN KEY (signal_id) REFERENCES signal(id) DEFERRABLE INITIALLY DEFERRED,
  constraint fill_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint fill_trade_id_fkey FOREIGN KEY (trade_id) REFERENCES trade(id),
  constraint fill_quantity_check CHECK (((quantity)::numeric > (0)::numeric))
);
CREATE INDEX fill_signal ON public.fill USING btree (signal_id);
CREATE INDEX fill_strategy ON public.fill USING btree (strategy_id, id);

create table fix_session (
  connection text not null,
  next_inbound bigint not null default 1,
  next_outbound bigint not null default 1,
  started_at timestamp with time zone,
  is_reset_due boolean not null default false,
  constraint fix_session_pkey PRIMARY KEY (connection),
  constraint fix_session_next_inbound_check CHECK ((next_inbound > 0)),
  constraint fix_session_next_outbound_check CHECK ((next_outbound > 0))
);

create table former_symbol (
  symbol text not null,
  until timestamp with time zone not null,
  instrument_id bigint not null,
  constraint former_symbol_pkey PRIMARY KEY (symbol, until),
  constraint former_symbol_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id)
);

create table idempotency (
  access_key_id bigint not null,
  idempotency_key text not null,
  operation text not null,
  fingerprint bytea not null,
  status smallint,
  answer text,
  headers jsonb,
  created_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (access_key_id, idempotency_key),
  constraint idempotency_access_key_id_fkey FOREIGN KEY (access_key_id) REFERENCES access_key(id)
);
CREATE INDEX idempotency_age ON public.idempotency USING btree (created_at);

create table incident (
  id bigint not null generated always as identity,
  incident_key text not null,
  kind text not null,
  detail jsonb not null,
  occurred_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint incident_pkey PRIMARY KEY (id),
  constraint incident_incident_key_key UNIQUE (incident_key)
);

create table index_close (
  day date not null,
  close entered_price not null,
  constraint index_close_pkey PRIMARY KEY (day),
  constraint index_close_close_check CHECK (((close)::numeric > (0)::numeric))
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF close ON public.index_close FOR EACH ROW EXECUTE FUNCTION audit_change('day', 'close', '');

create table instrument (
  id bigint not null generated always as identity,
  symbol text not null,
  security_type security_type not null,
  description text not null,
  underlying text,
  root text not null,
  maturity_month_year text,
  put_or_call text,
  strike entered_price,
  security_exchange text not null default 'DEFAULT'::text,
  currency text not null,
  point_value entered_factor not null,
  tick entered_price not null,
  calendar text not null,
  initial_margin entered_amount,
  maintenance_margin entered_amount,
  settlement text,
  is_index_option boolean not null default false,
  expiry date,
  last_trading_day date,
  is_tradable boolean not null default true,
  xid xid8 not null default pg_current_xact_id(),
  due_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint instrument_pkey PRIMARY KEY (id),
  constraint instrument_symbol_key UNIQUE (symbol),
  constraint instrument_point_value_check CHECK (((point_value)::numeric > (0)::numeric)),
  constraint instrument_put_or_call_check CHECK ((put_or_call = ANY (ARRAY['0'::text, '1'::text]))),
  constraint instrument_settlement_check CHECK ((settlement = ANY (ARRAY['physical'::text, 'cash'::text]))),
  constraint instrument_tick_check CHECK (((tick)::numeric > (0)::numeric))
);
CREATE INDEX instrument_due ON public.instrument USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX instrument_underlying ON public.instrument USING btree (underlying) WHERE ((security_type)::text = 'OPT'::text);
CREATE INDEX instrument_xid ON public.instrument USING btree (xid);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF symbol, security_type, description, underlying, root, maturity_month_year, put_or_call, strike, security_exchange, currency, point_value, tick, calendar, initial_margin, maintenance_margin, settlement, is_index_option, expiry, last_trading_day, is_tradable ON public.instrument FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'symbol,security_type,description,underlying,root,maturity_month_year,put_or_call,strike,security_exchange,currency,point_value,tick,calendar,initial_margin,maintenance_margin,settlement,is_index_option,expiry,last_trading_day,is_tradable', '');
CREATE TRIGGER stays_while_signals_name_it BEFORE DELETE ON public.instrument FOR EACH ROW WHEN ((current_setting('lockstep.emptying'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION stays_while_signals_name_it('instrument_id');

create table kyc (
  id bigint not null generated always as identity,
  person_id bigint not null,
  token_hash bytea,
  redirected_times integer not null default 0,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  approved_at timestamp with time zone,
  score bigint,
  constraint kyc_pkey PRIMARY KEY (id),
  constraint kyc_person_id_key UNIQUE (person_id),
  constraint kyc_token_hash_key UNIQUE (token_hash),
  constraint kyc_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF person_id, redirected_times, started_at, finished_at, approved_at, score, token_hash ON public.kyc FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'person_id,redirected_times,started_at,finished_at,approved_at,score', 'token_hash');

create table kyc_info (
  id bigint not null generated always as identity,
  person_id bigint not null,
  sealed_key bytea not null,
  fields bytea not null,
  photo_1 bytea,
  photo_2 bytea,
  created_at timestamp with time zone not null,
  constraint kyc_info_pkey PRIMARY KEY (id),
  constraint kyc_info_person_id_key UNIQUE (person_id),
  constraint kyc_info_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF person_id, sealed_key ON public.kyc_info FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'person_id', 'sealed_key');

create table lease (
  name text not null,
  holder text not null,
  fence bigint not null,
  expires_at timestamp with time zone not null,
  constraint lease_pkey PRIMARY KEY (name)
);

create table ledger_account (
  id bigint not null generated always as identity,
  name text not null generated always as (((((kind || ':'::text) || COALESCE((person_id)::text, (site_id)::text, provider, ''::text)) || ':'::text) || (currency)::text)) stored,
  kind text not null,
  person_id bigint,
  site_id bigint,
  provider text,
  currency currency not null,
  constraint ledger_account_pkey PRIMARY KEY (id),
  constraint ledger_account_id_currency_key UNIQUE (id, currency),
  constraint ledger_account_name_key UNIQUE (name),
  constraint ledger_account_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint ledger_account_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint ledger_account_check CHECK (((kind = ANY (ARRAY['customer'::text, 'owner'::text])) = (person_id IS NOT NULL))),
  constraint ledger_account_check1 CHECK (((kind = 'site'::text) = (site_id IS NOT NULL))),
  constraint ledger_account_check2 CHECK (((kind = 'provider'::text) = (provider IS NOT NULL))),
  constraint ledger_account_kind_check CHECK ((kind = ANY (ARRAY['customer'::text, 'owner'::text, 'site'::text, 'platform'::text, 'provider'::text, 'surplus'::text])))
);

create table ledger_transfer (
  id bigint not null generated always as identity,
  charge_id bigint not null,
  reason text not null,
  from_account_id bigint not null,
  to_account_id bigint not null,
  amount bigint not null,
  currency currency not null,
  booked_at timestamp with time zone not null,
  xid xid8 not null default pg_current_xact_id(),
  payment_ref text,
  event_ref text,
  constraint charge_is_settled TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint ledger_transfer_pkey PRIMARY KEY (id),
  constraint ledger_transfer_once UNIQUE NULLS NOT DISTINCT (charge_id, reason, payment_ref, event_ref),
  constraint ledger_transfer_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charge(id),
  constraint ledger_transfer_from_account_id_currency_fkey FOREIGN KEY (from_account_id, currency) REFERENCES ledger_account(id, currency),
  constraint ledger_transfer_to_account_id_currency_fkey FOREIGN KEY (to_account_id, currency) REFERENCES ledger_account(id, currency),
  constraint ledger_transfer_amount_check CHECK ((amount > 0)),
  constraint ledger_transfer_check CHECK ((to_account_id <> from_account_id)),
  constraint ledger_transfer_check1 CHECK (((reason = ANY (ARRAY['surplus'::text, 'surplusReturned'::text, 'surplusLost'::text])) = (payment_ref IS NOT NULL))),
  constraint ledger_transfer_check2 CHECK (((reason = ANY (ARRAY['surplusReturned'::text, 'surplusLost'::text])) = (event_ref IS NOT NULL))),
  constraint ledger_transfer_reason_check CHECK ((reason = ANY (ARRAY['payment'::text, 'ownerShare'::text, 'siteMarkup'::text, 'platformShare'::text, 'surplus'::text, 'surplusReturned'::text, 'surplusLost'::text])))
);
CREATE INDEX ledger_transfer_surplus ON public.ledger_transfer USING btree (payment_ref) WHERE (payment_ref IS NOT NULL);
CREATE INDEX ledger_transfer_xid ON public.ledger_transfer USING btree (xid);
CREATE CONSTRAINT TRIGGER charge_is_settled AFTER INSERT OR DELETE ON public.ledger_transfer DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION charge_is_settled();
CREATE TRIGGER ledger_transfer_is_final BEFORE UPDATE ON public.ledger_transfer FOR EACH ROW EXECUTE FUNCTION ledger_transfer_is_final();

create table mail (
  id bigint not null generated always as identity,
  kind text not null,
  address text not null,
  facts jsonb not null,
  created_at timestamp with time zone not null,
  attempts integer not null default 0,
  next_try_at timestamp with time zone not null,
  claimed_until timestamp with time zone,
  constraint mail_pkey PRIMARY KEY (id),
  constraint mail_kind_check CHECK ((kind = ANY (ARRAY['confirm-email'::text, 'autosync-off'::text, 'payment-failed'::text])))
);
CREATE INDEX mail_due ON public.mail USING btree (next_try_at);

create table order_gap (
  account_id bigint not null,
  order_id bigint not null,
  told text not null,
  since timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  constraint order_gap_pkey PRIMARY KEY (account_id, order_id),
  constraint order_gap_account_id_order_id_fkey FOREIGN KEY (account_id, order_id) REFERENCES account_order(account_id, id)
);
CREATE INDEX order_gap_confirmed ON public.order_gap USING btree (account_id) WHERE (confirmed_at IS NOT NULL);
CREATE INDEX order_gap_open ON public.order_gap USING btree (since) WHERE (confirmed_at IS NULL);

create table paper_order (
  account_id bigint not null,
  client_order_id text not null,
  id bigint not null generated always as identity,
  broker_id integer not null,
  instrument_id bigint not null,
  side side not null,
  ord_type ord_type not null,
  time_in_force time_in_force not null,
  position_effect position_effect not null,
  order_qty quantity not null,
  limit_px price,
  stop_px price,
  status ord_status not null,
  is_triggered boolean not null default false,
  cum_qty quantity not null default 0,
  fills integer not null default 0,
  carried_qty quantity not null default 0,
  fill_cap quantity,
  reject_text text,
  accepted_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  needs_match boolean not null default true,
  replaces text,
  constraint paper_order_pkey PRIMARY KEY (account_id, client_order_id),
  constraint paper_order_id_key UNIQUE (id),
  constraint paper_order_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint paper_order_broker_id_fkey FOREIGN KEY (broker_id) REFERENCES broker(id),
  constraint paper_order_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint paper_order_order_qty_check CHECK (((order_qty)::numeric >= (0)::numeric))
);
CREATE INDEX paper_order_account_working ON public.paper_order USING btree (account_id) WHERE ((status)::text = ANY (ARRAY['0'::text, '1'::text]));
CREATE INDEX paper_order_expires ON public.paper_order USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND ((status)::text = ANY (ARRAY['0'::text, '1'::text])));
CREATE INDEX paper_order_needs_match ON public.paper_order USING btree (accepted_at) WHERE needs_match;
CREATE INDEX paper_order_working ON public.paper_order USING btree (instrument_id) WHERE ((status)::text = ANY (ARRAY['0'::text, '1'::text]));

create table paper_report (
  id bigint not null generated always as identity,
  broker_id integer not null,
  report_key text not null,
  account_id bigint not null,
  client_order_id text,
  kind text not null,
  symbol text not null,
  side side,
  quantity quantity,
  px price,
  text text,
  occurred_at timestamp with time zone not null,
  is_delivered boolean not null default false,
  cum_qty quantity,
  constraint paper_report_pkey PRIMARY KEY (id),
  constraint paper_report_broker_id_account_id_report_key_key UNIQUE (broker_id, account_id, report_key),
  constraint paper_report_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint paper_report_broker_id_fkey FOREIGN KEY (broker_id) REFERENCES broker(id)
);
CREATE INDEX paper_report_account ON public.paper_report USING btree (account_id, client_order_id);
CREATE INDEX paper_report_undelivered ON public.paper_report USING btree (id) WHERE (NOT is_delivered);
CREATE TRIGGER paper_adds_up_changed AFTER UPDATE ON public.paper_report REFERENCING OLD TABLE AS gone NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION paper_adds_up();
CREATE TRIGGER paper_adds_up_told AFTER INSERT ON public.paper_report REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION paper_adds_up();

create table paper_total (
  account_id bigint not null,
  symbol text not null,
  quantity numeric not null,
  constraint paper_total_pkey PRIMARY KEY (account_id, symbol),
  constraint paper_total_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint paper_total_quantity_check CHECK (((quantity > '-Infinity'::numeric) AND (quantity < 'Infinity'::numeric)))
);

create table payment_event (
  id bigint not null generated always as identity,
  provider text not null,
  event_ref text not null,
  kind text not null,
  payment_ref text not null,
  reason text,
  occurred_at timestamp with time zone not null,
  applied_at timestamp with time zone,
  charge_id bigint not null,
  attempt integer not null,
  constraint payment_event_pkey PRIMARY KEY (id),
  constraint payment_event_provider_event_ref_key UNIQUE (provider, event_ref),
  constraint payment_event_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charge(id),
  constraint payment_event_kind_check CHECK ((kind = ANY (ARRAY['paid'::text, 'declined'::text])))
);
CREATE INDEX payment_event_unapplied ON public.payment_event USING btree (id) WHERE (applied_at IS NULL);

create table payment_method (
  person_id bigint not null,
  provider text not null,
  customer_ref text not null,
  method_ref text not null,
  changed_at timestamp with time zone not null,
  constraint payment_method_pkey PRIMARY KEY (person_id, provider),
  constraint payment_method_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint payment_method_provider_check CHECK ((provider = ANY (ARRAY['simulated'::text, 'stripe'::text])))
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF provider, customer_ref, method_ref ON public.payment_method FOR EACH ROW EXECUTE FUNCTION audit_change('person_id', 'provider', 'customer_ref,method_ref');

create table person (
  id bigint not null generated always as identity,
  site_id bigint not null,
  role text not null,
  alias text not null,
  first_name text not null,
  last_name text not null,
  email text not null,
  language text not null default 'eng'::text,
  country_code text not null default 'US'::text,
  is_alive boolean not null default true,
  created_at timestamp with time zone not null,
  xid xid8 not null default pg_current_xact_id(),
  division_code text,
  city text,
  street text,
  street2 text,
  zip_code text,
  company text,
  phone text,
  is_phone_verified boolean not null default false,
  password_hash text,
  email_validated_at timestamp with time zone,
  last_logged_in_at timestamp with time zone,
  last_ip text,
  icon text,
  permissions text[],
  constraint person_pkey PRIMARY KEY (id),
  constraint person_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint person_permissions_check CHECK ((permissions <@ ARRAY['catalog'::text, 'members'::text, 'kyc'::text, 'reports'::text, 'billing'::text])),
  constraint person_role_check CHECK ((role = ANY (ARRAY['user'::text, 'geosite_admin'::text, 'whitelabel_admin'::text, 'platform_admin'::text])))
);
CREATE UNIQUE INDEX person_email ON public.person USING btree (lower(email)) WHERE is_alive;
CREATE INDEX person_phone ON public.person USING btree (phone) WHERE (phone IS NOT NULL);
CREATE INDEX person_site ON public.person USING btree (site_id, id);
CREATE INDEX person_xid ON public.person USING btree (xid);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF site_id, role, permissions, language, is_alive, is_phone_verified, email_validated_at, alias, first_name, last_name, email, phone, country_code, division_code, city, street, street2, zip_code, company, password_hash, icon ON public.person FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'site_id,role,permissions,language,is_alive,is_phone_verified,email_validated_at', 'alias,first_name,last_name,email,phone,country_code,division_code,city,street,street2,zip_code,company,password_hash,icon');

create table plan (
  id bigint not null generated always as identity,
  site_id bigint not null,
  kind text not null,
  name text not null,
  term_days integer not null,
  strategies_included integer not null,
  price minor_units not null,
  currency currency not null default 'USD'::text,
  is_offered boolean not null default true,
  constraint plan_pkey PRIMARY KEY (id),
  constraint plan_site_id_kind_name_term_days_key UNIQUE (site_id, kind, name, term_days),
  constraint plan_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint plan_kind_check CHECK ((kind = ANY (ARRAY['investor'::text, 'manager'::text]))),
  constraint plan_strategies_included_check CHECK ((strategies_included >= 0)),
  constraint plan_term_days_check CHECK ((term_days = ANY (ARRAY[30, 365])))
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF site_id, kind, name, term_days, strategies_included, price, currency, is_offered ON public.plan FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'site_id,kind,name,term_days,strategies_included,price,currency,is_offered', '');

create table platform_switch (
  name text not null,
  value jsonb not null,
  changed_at timestamp with time zone not null,
  constraint platform_switch_pkey PRIMARY KEY (name)
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF value ON public.platform_switch FOR EACH ROW EXECUTE FUNCTION audit_change('name', 'value', '');

create table position (
  strategy_id bigint not null,
  instrument_id bigint not null,
  quantity quantity not null,
  avg_px price,
  opened_at timestamp with time zone,
  constraint position_pkey PRIMARY KEY (strategy_id, instrument_id),
  constraint position_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint position_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint position_check CHECK ((((quantity)::numeric = (0)::numeric) = (avg_px IS NULL)))
);
CREATE INDEX position_held ON public."position" USING btree (instrument_id) WHERE ((quantity)::numeric <> (0)::numeric);

create table position_adjustment (
  action_id bigint not null,
  strategy_id bigint not null,
  quantity_before quantity not null,
  quantity_change quantity not null,
  cash_change amount not null,
  constraint position_adjustment_pkey PRIMARY KEY (action_id, strategy_id),
  constraint position_adjustment_action_id_fkey FOREIGN KEY (action_id) REFERENCES corporate_action(id),
  constraint position_adjustment_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);
CREATE INDEX position_adjustment_strategy ON public.position_adjustment USING btree (strategy_id);

create table position_gap (
  account_id bigint not null,
  symbol text not null,
  difference quantity not null,
  accepted quantity not null default 0,
  since timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  constraint position_gap_pkey PRIMARY KEY (account_id, symbol),
  constraint position_gap_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id)
);
CREATE INDEX position_gap_confirmed ON public.position_gap USING btree (account_id) WHERE (confirmed_at IS NOT NULL);
CREATE INDEX position_gap_open ON public.position_gap USING btree (since) WHERE ((confirmed_at IS NULL) AND ((difference)::numeric <> (0)::numeric));

create table quote (
  instrument_id bigint not null,
  bid price not null,
  ask price not null,
  bid_size quantity,
  ask_size quantity,
  quoted_at timestamp with time zone not null,
  is_valid boolean not null,
  margin_due boolean not null default false,
  day date not null,
  has_bid boolean not null default true,
  late_at timestamp with time zone,
  booked_at timestamp with time zone,
  constraint quote_pkey PRIMARY KEY (instrument_id),
  constraint quote_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id)
);
CREATE INDEX quote_late ON public.quote USING btree (instrument_id) WHERE (late_at IS NOT NULL);
CREATE INDEX quote_margin_due ON public.quote USING btree (instrument_id) WHERE margin_due;

create table rate_window (
  subject text not null,
  window_seconds integer not null,
  started_at timestamp with time zone not null,
  used integer not null,
  constraint rate_window_pkey PRIMARY KEY (subject, window_seconds)
);
CREATE INDEX rate_window_age ON public.rate_window USING btree (started_at);

create table reconciliation (
  broker_id integer not null,
  due_at timestamp with time zone not null,
  answered_at timestamp with time zone,
  constraint reconciliation_pkey PRIMARY KEY (broker_id),
  constraint reconciliation_broker_id_fkey FOREIGN KEY (broker_id) REFERENCES broker(id)
);

create table schema_migration (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint schema_migration_pkey PRIMARY KEY (number)
);

create table secret_mark (
  name text not null,
  mark bytea not null,
  constraint secret_mark_pkey PRIMARY KEY (name)
);

create table setup (
  id bigint not null generated always as identity,
  account_id bigint not null,
  strategy_id bigint not null,
  scaling_percentage integer not null,
  stocks_enabled boolean not null,
  stocks_long boolean not null,
  stocks_short boolean not null,
  max_stocks_dollars integer,
  options_enabled boolean not null,
  options_long boolean not null,
  options_short boolean not null,
  min_options integer not null default 0,
  max_options integer,
  futures_enabled boolean not null,
  futures_long boolean not null,
  futures_short boolean not null,
  min_futures integer not null default 0,
  max_futures integer,
  forex_enabled boolean not null,
  forex_long boolean not null,
  forex_short boolean not null,
  forex_lot_size integer,
  min_forex integer not null default 0,
  max_forex integer,
  closing_orders_only boolean not null default false,
  chase_filled boolean not null default true,
  joins_positions boolean not null,
  is_confirmation_needed boolean not null default false,
  virtual_limit_orders_enabled boolean not null default false,
  trade_stocks_as_cfd boolean not null default false,
  will_sync_stocks_usa boolean not null default false,
  will_sync_stocks_europe boolean not null default false,
  will_sync_options_usa boolean not null default false,
  will_sync_options_europe boolean not null default false,
  will_sync_futures_usa boolean not null default false,
  will_sync_futures_europe boolean not null default false,
  will_sync_futures_asia boolean not null default false,
  will_sync_forex boolean not null default false,
  last_sync_stocks_usa timestamp with time zone,
  last_sync_stocks_europe timestamp with time zone,
  last_sync_options_usa timestamp with time zone,
  last_sync_options_europe timestamp with time zone,
  last_sync_futures_usa timestamp with time zone,
  last_sync_futures_europe timestamp with time zone,
  last_sync_futures_asia timestamp with time zone,
  last_sync_forex timestamp with time zone,
  auto_stop_loss_dollars bigint not null default 0,
  joined_version bigint not null,
  left_version bigint,
  fence bigint not null default 1,
  started_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  stopped_at timestamp with time zone,
  positions_left_open boolean,
  closed_at timestamp with time zone,
  xid xid8 not null default pg_current_xact_id(),
  retries_after bigint not null default 0,
  started_equity amount,
  constraint setup_pkey PRIMARY KEY (id),
  constraint setup_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint setup_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint setup_auto_stop_loss_dollars_check CHECK ((auto_stop_loss_dollars >= 0)),
  constraint setup_check CHECK (((left_version IS NULL) = (stopped_at IS NULL))),
  constraint setup_forex_lot_size_check CHECK ((forex_lot_size > 0)),
  constraint setup_max_forex_check CHECK ((max_forex >= 0)),
  constraint setup_max_futures_check CHECK ((max_futures >= 0)),
  constraint setup_max_options_check CHECK ((max_options >= 0)),
  constraint setup_max_stocks_dollars_check CHECK ((max_stocks_dollars >= 0)),
  constraint setup_min_forex_check CHECK ((min_forex >= 0)),
  constraint setup_min_futures_check CHECK ((min_futures >= 0)),
  constraint setup_min_options_check CHECK ((min_options >= 0)),
  constraint setup_scaling_percentage_check CHECK (((scaling_percentage >= 1) AND (scaling_percentage <= 1000)))
);
CREATE INDEX setup_account ON public.setup USING btree (account_id, id);
CREATE INDEX setup_closing ON public.setup USING btree (id) WHERE ((stopped_at IS NOT NULL) AND (NOT positions_left_open) AND (closed_at IS NULL));
CREATE UNIQUE INDEX setup_live ON public.setup USING btree (account_id, strategy_id) WHERE (stopped_at IS NULL);
CREATE INDEX setup_strategy ON public.setup USING btree (strategy_id, id);
CREATE INDEX setup_xid ON public.setup USING btree (xid);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short, max_stocks_dollars, options_enabled, options_long, options_short, min_options, max_options, futures_enabled, futures_long, futures_short, min_futures, max_futures, forex_enabled, forex_long, forex_short, forex_lot_size, min_forex, max_forex, closing_orders_only, chase_filled, joins_positions, is_confirmation_needed, virtual_limit_orders_enabled, trade_stocks_as_cfd, will_sync_stocks_usa, will_sync_stocks_europe, will_sync_options_usa, will_sync_options_europe, will_sync_futures_usa, will_sync_futures_europe, will_sync_futures_asia, will_sync_forex, auto_stop_loss_dollars, stopped_at, positions_left_open ON public.setup FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'account_id,strategy_id,scaling_percentage,stocks_enabled,stocks_long,stocks_short,max_stocks_dollars,options_enabled,options_long,options_short,min_options,max_options,futures_enabled,futures_long,futures_short,min_futures,max_futures,forex_enabled,forex_long,forex_short,forex_lot_size,min_forex,max_forex,closing_orders_only,chase_filled,joins_positions,is_confirmation_needed,virtual_limit_orders_enabled,trade_stocks_as_cfd,will_sync_stocks_usa,will_sync_stocks_europe,will_sync_options_usa,will_sync_options_europe,will_sync_futures_usa,will_sync_futures_europe,will_sync_futures_asia,will_sync_forex,auto_stop_loss_dollars,stopped_at,positions_left_open', '');
CREATE TRIGGER setup_changes_sync AFTER UPDATE OF changed_at ON public.setup FOR EACH ROW WHEN ((new.stopped_at IS NULL)) EXECUTE FUNCTION setup_syncs();
CREATE TRIGGER setup_starts_sync AFTER INSERT ON public.setup FOR EACH ROW EXECUTE FUNCTION setup_syncs();

create table setup_exclusion (
  setup_id bigint not null,
  instrument_id bigint not null,
  sign smallint not null,
  reason text not null,
  excluded_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint setup_exclusion_pkey PRIMARY KEY (setup_id, instrument_id),
  constraint setup_exclusion_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint setup_exclusion_setup_id_fkey FOREIGN KEY (setup_id) REFERENCES setup(id),
  constraint setup_exclusion_sign_check CHECK ((sign = ANY (ARRAY['-1'::integer, 1])))
);

create table sign_in (
  id bigint not null generated always as identity,
  site_id bigint not null,
  person_id bigint not null,
  kind text not null,
  outcome text not null,
  ip_address text,
  occurred_at timestamp with time zone not null,
  approval_request_id uuid,
  constraint sign_in_pkey PRIMARY KEY (id),
  constraint sign_in_approval_request_id_key UNIQUE (approval_request_id),
  constraint sign_in_approval_request_id_fkey FOREIGN KEY (approval_request_id) REFERENCES approval_request(id),
  constraint sign_in_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint sign_in_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint sign_in_kind_check CHECK ((kind = ANY (ARRAY['login'::text, 'sso'::text]))),
  constraint sign_in_outcome_check CHECK ((outcome = ANY (ARRAY['success'::text, 'failure'::text])))
);
CREATE INDEX sign_in_person ON public.sign_in USING btree (person_id, occurred_at) INCLUDE (outcome);
CREATE INDEX sign_in_site ON public.sign_in USING btree (site_id, occurred_at);

create table signal (
  id bigint not null generated always as identity,
  strategy_id bigint not null,
  instrument_id bigint not null,
  signal_type signal_type not null default 1,
  side side not null,
  ord_type ord_type not null,
  time_in_force time_in_force not null,
  position_effect position_effect not null,
  order_qty ordered_quantity not null,
  limit_px price,
  stop_px price,
  status ord_status not null,
  is_held boolean not null default false,
  is_triggered boolean not null default false,
  cum_qty executed_quantity not null default 0,
  avg_px price,
  posted_at timestamp with time zone not null,
  working_at timestamp with time zone,
  expires_at timestamp with time zone,
  ended_at timestamp with time zone,
  replaces_signal_id bigint,
  parent_signal_id bigint,
  oca_group_id bigint,
  parked_until timestamp with time zone,
  profit_target price,
  stop_loss price,
  do_not_create_oca_group boolean not null default false,
  do_not_sync_to_open boolean not null default false,
  reject_text text,
  info text,
  request_id text,
  reference_px price,
  needs_match boolean not null default false,
  membership_horizon bigint,
  mirror_due boolean not null default false,
  mirror_after_setup_id bigint,
  mirrored_at timestamp with time zone,
  xid xid8 not null default pg_current_xact_id(),
  depth generation not null default 0,
  exit_role exit_role,
  covers_from quantity not null default 0,
  waits_for_parent boolean not null default false,
  is_parked boolean not null default false,
  from_desired boolean not null default false,
  constraint signal_pkey PRIMARY KEY (id),
  constraint signal_parent_signal_id_fkey FOREIGN KEY (parent_signal_id) REFERENCES signal(id),
  constraint signal_replaces_signal_id_fkey FOREIGN KEY (replaces_signal_id) REFERENCES signal(id),
  constraint signal_average CHECK ((((cum_qty)::numeric = (0)::numeric) = (avg_px IS NULL))),
  constraint signal_family CHECK (((parent_signal_id IS NOT NULL) OR ((exit_role IS NULL) AND (NOT waits_for_parent)))),
  constraint signal_parking CHECK (((parked_until IS NOT NULL) OR (NOT is_parked))),
  constraint signal_price CHECK (
CASE ord_type
    WHEN '2'::text THEN (limit_px IS NOT NULL)
    WHEN '3'::text THEN (stop_px IS NOT NULL)
    ELSE true
END)
);
CREATE INDEX signal_expires ON public.signal USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND ((status)::text = ANY (ARRAY['A'::text, '0'::text, '1'::text, '6'::text, 'E'::text])));
CREATE INDEX signal_history ON public.signal USING btree (strategy_id, id) WHERE ((status)::text = ANY (ARRAY['2'::text, '4'::text, '5'::text, '8'::text, 'C'::text]));
CREATE INDEX signal_live ON public.signal USING btree (strategy_id, instrument_id) WHERE ((status)::text = ANY (ARRAY['A'::text, '0'::text, '1'::text, '6'::text, 'E'::text]));
CREATE INDEX signal_mirror_due ON public.signal USING btree (id) WHERE mirror_due;
CREATE INDEX signal_needs_match ON public.signal USING btree (id) WHERE needs_match;
CREATE INDEX signal_parent ON public.signal USING btree (parent_signal_id) WHERE (parent_signal_id IS NOT NULL);
CREATE INDEX signal_parked ON public.signal USING btree (parked_until) WHERE is_parked;
CREATE UNIQUE INDEX signal_replaced_once ON public.signal USING btree (replaces_signal_id) WHERE ((replaces_signal_id IS NOT NULL) AND ((status)::text <> '8'::text));
CREATE INDEX signal_trigger ON public.signal USING btree (instrument_id, (
CASE
    WHEN (((ord_type)::text = '1'::text) OR is_triggered OR (((ord_type)::text = '2'::text) = ((side)::text = '1'::text))) THEN '-1'::integer
    ELSE 1
END), (
CASE
    WHEN (((ord_type)::text = '1'::text) OR is_triggered) THEN 'Infinity'::numeric
    ELSE (COALESCE(limit_px, stop_px))::numeric
END)) WHERE ((status)::text = ANY (ARRAY['0'::text, '1'::text, '6'::text, 'E'::text]));
CREATE INDEX signal_xid ON public.signal USING btree (xid) WHERE ((status)::text = ANY (ARRAY['2'::text, '4'::text, '5'::text, '8'::text, 'C'::text]));
CREATE TRIGGER signal_ends BEFORE UPDATE ON public.signal FOR EACH ROW WHEN (((old.ended_at IS NULL) AND (new.ended_at IS NOT NULL))) EXECUTE FUNCTION signal_ends();

create table signal_event (
  signal_id bigint not null,
  seq integer not null,
  event text not null,
  status ord_status not null,
  occurred_at timestamp with time zone not null,
  cause jsonb not null,
  constraint signal_event_pkey PRIMARY KEY (signal_id, seq)
);

create table simulated_payment (
  payment_key text not null,
  id bigint not null generated always as identity,
  amount bigint not null,
  currency currency not null,
  decline_reason text,
  answered_at timestamp with time zone not null,
  constraint simulated_payment_pkey PRIMARY KEY (payment_key),
  constraint simulated_payment_id_key UNIQUE (id),
  constraint simulated_payment_amount_check CHECK ((amount > 0))
);

create table simulation (
  person_id bigint not null,
  strategy_id bigint not null,
  started_at timestamp with time zone not null,
  started_equity amount not null,
  ended_equity amount,
  constraint simulation_pkey PRIMARY KEY (person_id, strategy_id, started_at),
  constraint simulation_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint simulation_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);

create table site (
  id bigint not null generated always as identity,
  kind text not null,
  code text not null,
  name text not null,
  domain text,
  parent_site_id bigint,
  created_at timestamp with time zone not null,
  support_company_name text,
  support_site_url text,
  support_email text,
  constraint site_pkey PRIMARY KEY (id),
  constraint site_code_key UNIQUE (code),
  constraint site_domain_key UNIQUE (domain),
  constraint site_parent_site_id_fkey FOREIGN KEY (parent_site_id) REFERENCES site(id),
  constraint site_kind_check CHECK ((kind = ANY (ARRAY['platform'::text, 'geo'::text, 'whitelabel'::text])))
);
CREATE UNIQUE INDEX site_one_platform ON public.site USING btree (kind) WHERE (kind = 'platform'::text);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF kind, code, domain, parent_site_id, name, support_company_name, support_site_url, support_email ON public.site FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'kind,code,domain,parent_site_id', 'name,support_company_name,support_site_url,support_email');

create table site_catalog (
  id bigint not null generated always as identity,
  site_id bigint not null,
  strategy_id bigint not null,
  display_name text,
  markup minor_units not null default 0,
  added_at timestamp with time zone not null,
  constraint site_catalog_pkey PRIMARY KEY (id),
  constraint site_catalog_site_id_strategy_id_key UNIQUE (site_id, strategy_id),
  constraint site_catalog_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint site_catalog_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF site_id, strategy_id, markup, display_name ON public.site_catalog FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'site_id,strategy_id,markup', 'display_name');

create table site_catalog_past (
  site_id bigint not null,
  strategy_id bigint not null,
  display_name text,
  markup minor_units not null,
  constraint site_catalog_past_pkey PRIMARY KEY (site_id, strategy_id),
  constraint site_catalog_past_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint site_catalog_past_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);

create table site_fee_policy (
  site_id bigint not null,
  payer text not null,
  constraint site_fee_policy_pkey PRIMARY KEY (site_id),
  constraint site_fee_policy_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint site_fee_policy_payer_check CHECK ((payer = ANY (ARRAY['customer'::text, 'site'::text, 'none'::text])))
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF payer ON public.site_fee_policy FOR EACH ROW EXECUTE FUNCTION audit_change('site_id', 'payer', '');

create table site_fee_tier (
  site_id bigint not null,
  from_accounts integer not null,
  to_accounts integer,
  price_per_account minor_units not null,
  currency currency not null default 'USD'::text,
  constraint site_fee_tier_pkey PRIMARY KEY (site_id, from_accounts),
  constraint site_fee_tier_site_id_fkey FOREIGN KEY (site_id) REFERENCES site_fee_policy(site_id),
  constraint site_fee_tier_check CHECK ((to_accounts >= from_accounts)),
  constraint site_fee_tier_from_accounts_check CHECK ((from_accounts > 0))
);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF to_accounts, price_per_account, currency ON public.site_fee_tier FOR EACH ROW EXECUTE FUNCTION audit_change('site_id,from_accounts', 'to_accounts,price_per_account,currency', '');

create table strategy (
  id bigint not null generated always as identity,
  site_id bigint not null,
  owner_person_id bigint not null,
  name text not null,
  started_at timestamp with time zone not null,
  starting_cash amount not null,
  cash amount not null,
  is_alive boolean not null default true,
  is_private boolean not null default false,
  monthly_cost entered_amount not null default 0,
  is_resellable boolean not null default true,
  no_subs_allowed boolean not null default false,
  membership_version bigint not null default 0,
  xid xid8 not null default pg_current_xact_id(),
  stocks_enabled boolean not null default true,
  options_enabled boolean not null default true,
  futures_enabled boolean not null default true,
  forex_enabled boolean not null default true,
  short_description text,
  long_description text,
  owner_share_percent integer not null default 70,
  transmit_account_id bigint,
  performance_fee_percent integer not null default 0,
  terms_changed_at timestamp with time zone,
  constraint strategy_pkey PRIMARY KEY (id),
  constraint strategy_owner_person_id_fkey FOREIGN KEY (owner_person_id) REFERENCES person(id),
  constraint strategy_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint strategy_transmit_account_id_fkey FOREIGN KEY (transmit_account_id) REFERENCES account(id),
  constraint strategy_monthly_cost_check CHECK (((monthly_cost)::numeric >= (0)::numeric)),
  constraint strategy_owner_share_percent_check CHECK (((owner_share_percent >= 0) AND (owner_share_percent <= 100))),
  constraint strategy_performance_fee_percent_check CHECK (((performance_fee_percent >= 0) AND (performance_fee_percent <= 100))),
  constraint strategy_starting_cash_check CHECK (((starting_cash)::numeric >= (0)::numeric))
);
ALTER TABLE strategy ALTER COLUMN owner_person_id SET (n_distinct=-0.5);
CREATE INDEX strategy_owner ON public.strategy USING btree (owner_person_id);
CREATE INDEX strategy_site ON public.strategy USING btree (site_id);
CREATE UNIQUE INDEX strategy_transmit_account ON public.strategy USING btree (transmit_account_id) WHERE (transmit_account_id IS NOT NULL);
CREATE INDEX strategy_xid ON public.strategy USING btree (xid);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF site_id, owner_person_id, starting_cash, is_alive, is_private, monthly_cost, is_resellable, no_subs_allowed, stocks_enabled, options_enabled, futures_enabled, forex_enabled, owner_share_percent, performance_fee_percent, transmit_account_id, name, short_description, long_description ON public.strategy FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'site_id,owner_person_id,starting_cash,is_alive,is_private,monthly_cost,is_resellable,no_subs_allowed,stocks_enabled,options_enabled,futures_enabled,forex_enabled,owner_share_percent,performance_fee_percent,transmit_account_id', 'name,short_description,long_description');
CREATE TRIGGER stays_while_signals_name_it BEFORE DELETE ON public.strategy FOR EACH ROW WHEN ((current_setting('lockstep.emptying'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION stays_while_signals_name_it('strategy_id');
CREATE TRIGGER strategy_begins AFTER INSERT ON public.strategy FOR EACH ROW EXECUTE FUNCTION strategy_begins();

create table strategy_day (
  strategy_id bigint not null,
  day date not null,
  cash amount not null,
  value amount not null,
  leverage factor,
  constraint strategy_day_pkey PRIMARY KEY (strategy_id, day),
  constraint strategy_day_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);

create table strategy_leverage (
  strategy_id bigint not null,
  day date not null,
  leverage factor not null,
  constraint strategy_leverage_pkey PRIMARY KEY (strategy_id, day),
  constraint strategy_leverage_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);

create table strategy_record (
  strategy_id bigint not null,
  closed_day date,
  stale_from date,
  next_close_at timestamp with time zone not null,
  last_fill_at timestamp with time zone,
  statistics_due boolean not null default true,
  moved_at timestamp with time zone,
  noted_at timestamp with time zone,
  constraint strategy_record_pkey PRIMARY KEY (strategy_id),
  constraint strategy_record_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);
CREATE INDEX strategy_record_next ON public.strategy_record USING btree (next_close_at);
CREATE INDEX strategy_record_statistics ON public.strategy_record USING btree (strategy_id) WHERE statistics_due;

create table strategy_statistics (
  strategy_id bigint not null,
  computed_at timestamp with time zone not null,
  value amount not null,
  age_in_days integer not null,
  return_percent figure,
  is_annual boolean not null,
  sharpe figure,
  sortino figure,
  calmar figure,
  alpha figure,
  beta figure,
  treynor figure,
  correlation figure,
  index_percent figure,
  percent_above_index figure,
  max_drawdown figure not null,
  max_drawdown_days integer not null,
  max_drawdown_start text,
  max_drawdown_end text,
  months integer not null,
  win_months integer not null,
  win_months_shown integer not null,
  win_months_ratio figure,
  avg_leverage figure,
  max_leverage figure,
  trades integer not null,
  winners integer not null,
  losers integer not null,
  win_percent figure,
  won_amount figure not null,
  lost_amount figure not null,
  average_win figure,
  average_loss figure,
  profit_factor figure,
  average_trade_days figure,
  stock_trades integer not null,
  option_trades integer not null,
  future_trades integer not null,
  forex_trades integer not null,
  constraint strategy_statistics_pkey PRIMARY KEY (strategy_id),
  constraint strategy_statistics_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id)
);

create table subscription (
  id bigint not null generated always as identity,
  site_id bigint not null,
  person_id bigint not null,
  strategy_id bigint,
  plan_id bigint,
  kind text not null,
  status text not null default 'active'::text,
  base_price minor_units not null,
  markup minor_units not null default 0,
  currency currency not null default 'USD'::text,
  started_at timestamp with time zone not null,
  term_started_at timestamp with time zone not null,
  term_ends_at timestamp with time zone,
  is_cancel_pending boolean not null default false,
  ended_at timestamp with time zone,
  end_reason text,
  billing_failures integer not null default 0,
  billing_failure_reason text,
  billing_failed_at timestamp with time zone,
  xid xid8 not null default pg_current_xact_id(),
  next_plan_id bigint,
  performance_fee_percent integer not null default 0,
  chosen_after_charge_id bigint,
  constraint subscription_pkey PRIMARY KEY (id),
  constraint subscription_next_plan_id_fkey FOREIGN KEY (next_plan_id) REFERENCES plan(id),
  constraint subscription_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint subscription_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plan(id),
  constraint subscription_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint subscription_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint subscription_billing_failures_check CHECK ((billing_failures >= 0)),
  constraint subscription_check CHECK ((term_ends_at > term_started_at)),
  constraint subscription_check1 CHECK ((num_nonnulls(strategy_id, plan_id) = 1)),
  constraint subscription_check2 CHECK (((kind = 'simulated'::text) = (term_ends_at IS NULL))),
  constraint subscription_check3 CHECK (((kind = 'paid'::text) OR (strategy_id IS NOT NULL))),
  constraint subscription_check4 CHECK (((status = 'ended'::text) = (ended_at IS NOT NULL))),
  constraint subscription_check5 CHECK (((next_plan_id IS NULL) OR (plan_id IS NOT NULL))),
  constraint subscription_kind_check CHECK ((kind = ANY (ARRAY['paid'::text, 'paper'::text, 'simulated'::text]))),
  constraint subscription_performance_fee_percent_check CHECK (((performance_fee_percent >= 0) AND (performance_fee_percent <= 100))),
  constraint subscription_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'suspended'::text, 'ended'::text])))
);
CREATE UNIQUE INDEX subscription_live ON public.subscription USING btree (person_id, strategy_id) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX subscription_live_plan ON public.subscription USING btree (person_id, plan_id) WHERE (ended_at IS NULL);
CREATE INDEX subscription_of_person ON public.subscription USING btree (person_id, strategy_id) WHERE (strategy_id IS NOT NULL);
CREATE INDEX subscription_person ON public.subscription USING btree (person_id, id);
CREATE INDEX subscription_strategy ON public.subscription USING btree (strategy_id, id);
CREATE INDEX subscription_term ON public.subscription USING btree (term_ends_at) WHERE (ended_at IS NULL);
CREATE INDEX subscription_xid ON public.subscription USING btree (xid);
CREATE TRIGGER audited AFTER INSERT OR DELETE ON public.subscription FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'site_id,person_id,strategy_id,plan_id,kind,status,base_price,markup,currency,performance_fee_percent,is_cancel_pending,ended_at,end_reason,next_plan_id', '');
CREATE TRIGGER audited_change AFTER UPDATE ON public.subscription FOR EACH ROW WHEN (((((((((((((((old.site_id IS DISTINCT FROM new.site_id) OR (old.person_id IS DISTINCT FROM new.person_id)) OR (old.strategy_id IS DISTINCT FROM new.strategy_id)) OR (old.plan_id IS DISTINCT FROM new.plan_id)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.status IS DISTINCT FROM new.status)) OR ((old.base_price)::bigint IS DISTINCT FROM (new.base_price)::bigint)) OR ((old.markup)::bigint IS DISTINCT FROM (new.markup)::bigint)) OR ((old.currency)::text IS DISTINCT FROM (new.currency)::text)) OR (old.performance_fee_percent IS DISTINCT FROM new.performance_fee_percent)) OR (old.is_cancel_pending IS DISTINCT FROM new.is_cancel_pending)) OR (old.ended_at IS DISTINCT FROM new.ended_at)) OR (old.end_reason IS DISTINCT FROM new.end_reason)) OR (old.next_plan_id IS DISTINCT FROM new.next_plan_id))) EXECUTE FUNCTION audit_change('id', 'site_id,person_id,strategy_id,plan_id,kind,status,base_price,markup,currency,performance_fee_percent,is_cancel_pending,ended_at,end_reason,next_plan_id', '');
CREATE TRIGGER subscription_revives AFTER UPDATE OF status ON public.subscription FOR EACH ROW WHEN (((new.status = 'active'::text) AND (old.status <> 'active'::text) AND (new.strategy_id IS NOT NULL))) EXECUTE FUNCTION subscription_revives();

create table sync_due (
  setup_id bigint not null,
  due_at timestamp with time zone not null,
  constraint sync_due_pkey PRIMARY KEY (setup_id),
  constraint sync_due_setup_id_fkey FOREIGN KEY (setup_id) REFERENCES setup(id)
);
CREATE INDEX sync_due_at ON public.sync_due USING btree (due_at);

create table trade (
  id bigint not null generated always as identity,
  strategy_id bigint not null,
  instrument_id bigint not null,
  signal_id bigint not null,
  open_side side not null,
  opened_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  opened_qty numeric not null,
  closed_qty numeric not null,
  open_turnover numeric not null,
  close_turnover numeric not null,
  commission amount not null,
  realised numeric not null,
  avg_px numeric,
  avg_cost numeric,
  fx factor not null,
  profit_loss amount,
  worst_result amount,
  worst_px price,
  worst_at timestamp with time zone,
  worst_entry_px price,
  worst_qty quantity,
  worst_equity amount,
  watch_px price,
  constraint trade_pkey PRIMARY KEY (id),
  constraint trade_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint trade_signal_id_fkey FOREIGN KEY (signal_id) REFERENCES signal(id) DEFERRABLE INITIALLY DEFERRED,
  constraint trade_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint trade_avg_cost_check CHECK (((avg_cost > '-Infinity'::numeric) AND (avg_cost < 'Infinity'::numeric))),
  constraint trade_avg_px_check CHECK (((avg_px > '-Infinity'::numeric) AND (avg_px < 'Infinity'::numeric))),
  constraint trade_check CHECK (((closed_qty >= (0)::numeric) AND (closed_qty <= opened_qty))),
  constraint trade_check1 CHECK (((closed_at IS NULL) = (closed_qty < opened_qty))),
  constraint trade_check2 CHECK (((closed_at IS NULL) = (profit_loss IS NULL))),
  constraint trade_check3 CHECK ((((closed_at IS NULL) = (avg_px IS NOT NULL)) AND ((avg_px IS NULL) = (avg_cost IS NULL)))),
  constraint trade_check4 CHECK (((closed_at IS NULL) = (watch_px IS NOT NULL))),
  constraint trade_check5 CHECK ((num_nulls(worst_result, worst_px, worst_at, worst_entry_px, worst_qty, worst_equity) = ANY (ARRAY[0, 6]))),
  constraint trade_close_turnover_check CHECK (((close_turnover > '-Infinity'::numeric) AND (close_turnover < 'Infinity'::numeric))),
  constraint trade_closed_qty_check CHECK (((closed_qty > '-Infinity'::numeric) AND (closed_qty < 'Infinity'::numeric))),
  constraint trade_open_turnover_check CHECK (((open_turnover > '-Infinity'::numeric) AND (open_turnover < 'Infinity'::numeric))),
  constraint trade_opened_qty_check CHECK ((opened_qty > (0)::numeric)),
  constraint trade_opened_qty_check1 CHECK (((opened_qty > '-Infinity'::numeric) AND (opened_qty < 'Infinity'::numeric))),
  constraint trade_realised_check CHECK (((realised > '-Infinity'::numeric) AND (realised < 'Infinity'::numeric))),
  constraint trade_worst_result_check CHECK (((worst_result)::numeric < (0)::numeric))
);
CREATE INDEX trade_closed ON public.trade USING btree (strategy_id, closed_at DESC, id DESC) WHERE (closed_at IS NOT NULL);
CREATE UNIQUE INDEX trade_open ON public.trade USING btree (strategy_id, instrument_id) WHERE (closed_at IS NULL);
CREATE INDEX trade_watch ON public.trade USING btree (instrument_id, open_side, watch_px) WHERE (closed_at IS NULL);

create table transmission (
  id bigint not null generated always as identity,
  strategy_id bigint not null,
  account_id bigint not null,
  exec_id text not null,
  instrument_id bigint not null,
  side side not null,
  quantity quantity not null,
  px price not null,
  executed_at timestamp with time zone not null,
  transmitted_at timestamp with time zone,
  constraint transmission_pkey PRIMARY KEY (id),
  constraint transmission_account_id_exec_id_key UNIQUE (account_id, exec_id),
  constraint transmission_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint transmission_instrument_id_fkey FOREIGN KEY (instrument_id) REFERENCES instrument(id),
  constraint transmission_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint transmission_quantity_check CHECK (((quantity)::numeric > (0)::numeric))
);
CREATE INDEX transmission_due ON public.transmission USING btree (strategy_id, id) WHERE (transmitted_at IS NULL);

create table variant (
  strategy_id bigint not null,
  parent_id bigint not null,
  scaling_percentage smallint not null,
  security_types text[] not null,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  look_at timestamp with time zone,
  constraint variant_pkey PRIMARY KEY (strategy_id),
  constraint variant_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES strategy(id),
  constraint variant_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint variant_check CHECK ((parent_id <> strategy_id)),
  constraint variant_scaling_percentage_check CHECK (((scaling_percentage >= 1) AND (scaling_percentage <= 1000))),
  constraint variant_security_types_check CHECK (((cardinality(security_types) > 0) AND (security_types <@ ARRAY['CS'::text, 'FUT'::text, 'OPT'::text, 'FOR'::text])))
);
CREATE INDEX variant_look ON public.variant USING btree (look_at) WHERE (look_at IS NOT NULL);
CREATE INDEX variant_parent ON public.variant USING btree (parent_id);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF parent_id, scaling_percentage, security_types, ended_at ON public.variant FOR EACH ROW EXECUTE FUNCTION audit_change('strategy_id', 'strategy_id,parent_id,scaling_percentage,security_types,ended_at', '');

create table variant_mark (
  id bigint not null generated always as identity,
  variant_id bigint not null,
  constraint variant_mark_pkey PRIMARY KEY (id),
  constraint variant_mark_variant_id_fkey FOREIGN KEY (variant_id) REFERENCES variant(strategy_id)
);
CREATE INDEX variant_mark_variant ON public.variant_mark USING btree (variant_id);

create table variant_order (
  signal_id bigint not null,
  variant_id bigint not null,
  copied_signal_id bigint,
  revision integer not null,
  filled_before quantity not null,
  constraint variant_order_pkey PRIMARY KEY (signal_id),
  constraint variant_order_variant_id_copied_signal_id_revision_key UNIQUE (variant_id, copied_signal_id, revision),
  constraint variant_order_copied_signal_id_fkey FOREIGN KEY (copied_signal_id) REFERENCES signal(id),
  constraint variant_order_signal_id_fkey FOREIGN KEY (signal_id) REFERENCES signal(id),
  constraint variant_order_variant_id_fkey FOREIGN KEY (variant_id) REFERENCES variant(strategy_id)
);

create table watch_list (
  id bigint not null generated always as identity,
  person_id bigint not null,
  name text not null,
  created_at timestamp with time zone not null,
  xid xid8 not null default pg_current_xact_id(),
  constraint watch_list_pkey PRIMARY KEY (id),
  constraint watch_list_person_id_name_key UNIQUE (person_id, name),
  constraint watch_list_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE INDEX watch_list_xid ON public.watch_list USING btree (xid);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF person_id, name ON public.watch_list FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'person_id', 'name');

create table watch_list_member (
  id bigint not null generated always as identity,
  watch_list_id bigint not null,
  strategy_id bigint not null,
  added_at timestamp with time zone not null,
  xid xid8 not null default pg_current_xact_id(),
  constraint watch_list_member_pkey PRIMARY KEY (id),
  constraint watch_list_member_watch_list_id_strategy_id_key UNIQUE (watch_list_id, strategy_id),
  constraint watch_list_member_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategy(id),
  constraint watch_list_member_watch_list_id_fkey FOREIGN KEY (watch_list_id) REFERENCES watch_list(id) ON DELETE CASCADE
);
CREATE INDEX watch_list_member_xid ON public.watch_list_member USING btree (xid);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF watch_list_id, strategy_id ON public.watch_list_member FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'watch_list_id,strategy_id', '');

create table webhook_attempt (
  id bigint not null generated always as identity,
  delivery_id uuid not null,
  attempted_at timestamp with time zone not null,
  signature text not null,
  status integer,
  failure text,
  constraint webhook_attempt_pkey PRIMARY KEY (id),
  constraint webhook_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_delivery(id)
);
CREATE INDEX webhook_attempt_delivery ON public.webhook_attempt USING btree (delivery_id);

create table webhook_delivery (
  id uuid not null default gen_random_uuid(),
  endpoint_id bigint not null,
  approval_request_id uuid not null,
  event_type text not null,
  body text not null,
  created_at timestamp with time zone not null,
  attempts integer not null default 0,
  next_try_at timestamp with time zone,
  claimed_until timestamp with time zone,
  delivered_at timestamp with time zone,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_endpoint_id_approval_request_id_key UNIQUE (endpoint_id, approval_request_id),
  constraint webhook_delivery_approval_request_id_fkey FOREIGN KEY (approval_request_id) REFERENCES approval_request(id),
  constraint webhook_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id),
  constraint webhook_delivery_check CHECK (((delivered_at IS NULL) OR (next_try_at IS NULL)))
);
CREATE INDEX webhook_delivery_claimed ON public.webhook_delivery USING btree (endpoint_id) WHERE (claimed_until IS NOT NULL);
CREATE INDEX webhook_delivery_delivered ON public.webhook_delivery USING btree (delivered_at) WHERE (delivered_at IS NOT NULL);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (endpoint_id, next_try_at, id) WHERE (next_try_at IS NOT NULL);
CREATE INDEX webhook_delivery_given_up ON public.webhook_delivery USING btree (endpoint_id, created_at) WHERE ((delivered_at IS NULL) AND (next_try_at IS NULL));

create table webhook_endpoint (
  id bigint not null generated always as identity,
  site_id bigint not null,
  url text not null,
  event_types text[] not null,
  created_at timestamp with time zone not null,
  disabled_at timestamp with time zone,
  disabled_reason text,
  failures integer not null default 0,
  rests_until timestamp with time zone,
  delivered_at timestamp with time zone,
  constraint webhook_endpoint_pkey PRIMARY KEY (id),
  constraint webhook_endpoint_site_id_fkey FOREIGN KEY (site_id) REFERENCES site(id),
  constraint webhook_endpoint_check CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
  constraint webhook_endpoint_event_types_check CHECK (((cardinality(event_types) > 0) AND (event_types <@ ARRAY['approval.completed'::text, 'approval.failed'::text, 'approval.expired'::text, 'approval.superseded'::text])))
);
CREATE INDEX webhook_endpoint_site ON public.webhook_endpoint USING btree (site_id);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF site_id, event_types, disabled_at, disabled_reason, url ON public.webhook_endpoint FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'site_id,event_types,disabled_at,disabled_reason', 'url');

create table webhook_secret (
  id uuid not null,
  endpoint_id bigint not null,
  key_id text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  created_at timestamp with time zone not null,
  constraint webhook_secret_pkey PRIMARY KEY (id),
  constraint webhook_secret_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id)
);
CREATE INDEX webhook_secret_endpoint ON public.webhook_secret USING btree (endpoint_id, created_at DESC);
CREATE TRIGGER audited AFTER INSERT OR DELETE OR UPDATE OF endpoint_id, key_id, sealed ON public.webhook_secret FOR EACH ROW EXECUTE FUNCTION audit_change('id', 'endpoint_id,key_id', 'sealed');

create view ledger_entry as
 SELECT ledger_transfer.id AS transfer_id,
    ledger_transfer.charge_id,
    ledger_transfer.from_account_id AS account_id,
    ledger_transfer.currency,
    (- ledger_transfer.amount) AS amount,
    ledger_transfer.booked_at
   FROM ledger_transfer
UNION ALL
 SELECT ledger_transfer.id AS transfer_id,
    ledger_transfer.charge_id,
    ledger_transfer.to_account_id AS account_id,
    ledger_transfer.currency,
    ledger_transfer.amount,
    ledger_transfer.booked_at
   FROM ledger_transfer;

CREATE OR REPLACE FUNCTION public.account_accepts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update position_gap set accepted = accepted + difference, difference = 0, confirmed_at = null
  where account_id = new.id and confirmed_at is not null;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.account_begins()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into account_record (account_id, next_close_at) values (new.id, new.created_at);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.account_connects()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into account_event (account_id, kind, occurred_at) values (new.id, 'connect', new.created_at);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.account_is_cut_off()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into account_event (account_id, kind, occurred_at) values (new.account_id, 'disconnect', new.occurred_at);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.account_syncs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into sync_due (setup_id, due_at)
  select id, new.settings_changed_at from setup where account_id = new.id and stopped_at is null order by id
  on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.account_turns()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into account_event (account_id, kind, occurred_at)
  select new.id, turn.kind, new.settings_changed_at from (values
    ('disable', new.is_autotrade_disabled and not old.is_autotrade_disabled),
    ('disconnect', new.broker_authorization = 'Revoked' and old.broker_authorization <> 'Revoked'),
    ('connect', new.broker_authorization = 'Authorized' and old.broker_authorization <> 'Authorized'
      or old.is_autotrade_disabled and not new.is_autotrade_disabled and 'disconnect' = (
        select e.kind from account_event e where e.account_id = new.id and e.kind <> 'disable'
        order by e.id desc limit 1))
  ) turn (kind, happened) where turn.happened;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  acting jsonb := coalesce(nullif(current_setting('lockstep.acting', true), ''), '{}');
  was jsonb := to_jsonb(old);
  is_now jsonb := to_jsonb(new);
  before jsonb;
  after jsonb;
begin
  if current_setting('lockstep.emptying', true) = 'on' then return null; end if;
  select
    jsonb_object_agg(name, case when is_private and was ->> name is not null then '"[private]"' else was -> name end),
    jsonb_object_agg(name, case when is_private and is_now ->> name is not null then '"[private]"' else is_now -> name end)
  into before, after
  from (
    select name, false as is_private from unnest(string_to_array(tg_argv[1], ',')) name
    union all select name, true from unnest(string_to_array(tg_argv[2], ',')) name
  ) watched
  where was ->> name is distinct from is_now ->> name;
  if tg_op = 'UPDATE' and after is null then return null; end if;
  insert into audit_entry (chain, occurred_at, actor, who, key_id, operation, request_id, object, before, after)
  values (
    coalesce((acting ->> 'chain')::bigint, 0), coalesce((acting ->> 'at')::timestamptz, clock_timestamp()),
    coalesce(acting ->> 'actor', 'platform'), acting ->> 'who', acting ->> 'keyId',
    coalesce(acting ->> 'operation', lower(tg_op)), acting ->> 'requestId',
    tg_table_name || ' ' || (
      select string_agg(coalesce(is_now, was) ->> name, ' ') from unnest(string_to_array(tg_argv[0], ',')) name),
    case when tg_op <> 'INSERT' then before end, case when tg_op <> 'DELETE' then after end);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.audit_entry_is_final()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- It is chained once, and nothing else ever happens to it.
  if tg_op = 'UPDATE' and old.hash is null and new.hash is not null
    and to_jsonb(new) - 'seq' - 'hash' = to_jsonb(old) - 'seq' - 'hash' then
    return new;
  end if;
  raise exception 'an entry of the audit log is never changed' using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.charge_is_settled()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  wanted bigint := case tg_table_name when 'charge' then (to_jsonb(new) ->> 'id')::bigint
    else (to_jsonb(coalesce(new, old)) ->> 'charge_id')::bigint end;
  unsettled boolean;
begin
  select case when charge.status = 'paid' then charge.amount else 0 end <> coalesce(sum(t.amount)
      filter (where t.reason = 'payment'), 0)
    or coalesce(sum(case t.reason when 'payment' then t.amount else -t.amount end), 0) <> 0
    or bool_or(t.currency <> charge.currency)
  into unsettled
  from charge left join ledger_transfer t on t.charge_id = charge.id and t.payment_ref is null
  where charge.id = wanted group by charge.id;
  if unsettled then
    raise exception 'charge % is not settled to the cent', wanted using errcode = 'check_violation';
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_transfer_is_final()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a booked transfer is never changed' using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.paper_adds_up()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  execute format('
    insert into paper_total as t (account_id, symbol, quantity)
    select account_id, symbol, sum(moved) from (
      select account_id, symbol, sign * case when (side = ''1'') = (kind = ''fill'') then quantity else -quantity end as moved
      from (%s) reports where kind in (''fill'', ''bust'')) moves
    group by account_id, symbol having sum(moved) <> 0 order by account_id, symbol
    on conflict (account_id, symbol) do update set quantity = t.quantity + excluded.quantity',
    case tg_op when 'INSERT' then 'select 1 as sign, * from told'
      else 'select 1 as sign, * from told union all select -1, * from gone' end);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.setup_syncs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into sync_due (setup_id, due_at) values (new.id, new.changed_at)
  on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.signal_ends()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.xid := pg_current_xact_id();
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.stays_while_signals_name_it()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  is_named boolean;
begin
  execute format('select exists (select from signal where %I = $1)', tg_argv[0]) into is_named using old.id;
  if is_named then
    raise foreign_key_violation using message = format('signals name %s %s', tg_table_name, old.id);
  end if;
  return old;
end $function$;

CREATE OR REPLACE FUNCTION public.strategy_begins()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into strategy_record (strategy_id, next_close_at) values (new.id, new.started_at);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.subscription_revives()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into sync_due (setup_id, due_at)
  select setup.id, new.term_started_at from setup join account a on a.id = setup.account_id
  where a.person_id = new.person_id and setup.strategy_id = new.strategy_id and setup.stopped_at is null
  order by setup.id
  on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at);
  return null;
end $function$;
