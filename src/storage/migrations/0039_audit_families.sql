-- Families and fees on gains are what operators change: they leave entries in the audit log like everything else.

create trigger audited after insert or delete or update of parent_id, scaling_percentage, security_types, ended_at
  on variant for each row
  execute function audit_change('strategy_id', 'strategy_id,parent_id,scaling_percentage,security_types,ended_at', '');

drop trigger audited on strategy;
create trigger audited after insert or delete or update of site_id, owner_person_id, starting_cash, is_alive, is_private,
    monthly_cost, is_resellable, no_subs_allowed, stocks_enabled, options_enabled, futures_enabled, forex_enabled,
    owner_share_percent, performance_fee_percent, transmit_account_id, name, short_description, long_description
  on strategy for each row
  execute function audit_change('id', 'site_id,owner_person_id,starting_cash,is_alive,is_private,monthly_cost,'
    'is_resellable,no_subs_allowed,stocks_enabled,options_enabled,futures_enabled,forex_enabled,owner_share_percent,'
    'performance_fee_percent,transmit_account_id', 'name,short_description,long_description');

drop trigger audited on subscription;
create trigger audited after insert or delete or update of site_id, person_id, strategy_id, plan_id, kind, status,
    base_price, markup, currency, performance_fee_percent, term_ends_at, is_cancel_pending, ended_at, end_reason,
    next_plan_id
  on subscription for each row
  execute function audit_change('id', 'site_id,person_id,strategy_id,plan_id,kind,status,base_price,markup,currency,'
    'performance_fee_percent,term_ends_at,is_cancel_pending,ended_at,end_reason,next_plan_id', '');
