-- Holders are told when AutoSync has been switched off in their account.

alter table mail drop constraint mail_kind_check, add check (kind in ('confirm-email', 'autosync-off'));
