/** Requests for a customer's approval end when their time is over. */
import {
  expireApprovals,
  findNextApprovalExpiry,
  isApprovalExpiryDue,
} from '../../storage/mirror/approvals.ts'
import type { Step } from '../context.ts'

/** What has run out while no worker ran may be too much for the time that one statement has. */
const expiredAtOnce = 2_000

export const approvalExpiryStep: Step = {
  name: 'expireApprovals',
  due: isApprovalExpiryDue,
  moments: [findNextApprovalExpiry],
  run: ({ db, clock }) => expireApprovals(db.write, clock.now(), expiredAtOnce),
}
