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

-- Of renewals the ledger tells; ten thousand of them a night are no entries.
drop trigger audited on subscription;
create trigger audited after insert or delete on subscription for each row
  execute function audit_change('id', 'site_id,person_id,strategy_id,plan_id,kind,status,base_price,markup,currency,'
    'performance_fee_percent,is_cancel_pending,ended_at,end_reason,next_plan_id', '');
create trigger audited_change after update on subscription for each row
  when ((old.site_id, old.person_id, old.strategy_id, old.plan_id, old.kind, old.status, old.base_price, old.markup,
      old.currency, old.performance_fee_percent, old.is_cancel_pending, old.ended_at, old.end_reason, old.next_plan_id)
    is distinct from (new.site_id, new.person_id, new.strategy_id, new.plan_id, new.kind, new.status, new.base_price,
      new.markup, new.currency, new.performance_fee_percent, new.is_cancel_pending, new.ended_at, new.end_reason,
      new.next_plan_id))
  execute function audit_change('id', 'site_id,person_id,strategy_id,plan_id,kind,status,base_price,markup,currency,'
    'performance_fee_percent,is_cancel_pending,ended_at,end_reason,next_plan_id', '');
