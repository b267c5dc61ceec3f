-- Orders that the platform adds itself get numbers of the sequence of signals, in the order in which they were made: no
-- two orders of a listing share one, and who sorts by them sees what came first.

alter table account_order add column own_number bigint;

update account_order o set own_number = made.number
from (select account_id, id, nextval('signal_id_seq') as number from (
  select account_id, id from account_order where source not in ('S', 'M') order by id) own) made
where made.account_id = o.account_id and made.id = o.id;

alter table account_order add constraint account_order_own_number_check
  check ((own_number is null) = (source in ('S', 'M')));
