/** Where a customer answers a request. */
import type { FastifyInstance } from 'fastify'
import { approvalPage, missingPage } from './approval-page.ts'
import type { Edge } from './exchange.ts'
import { addForms } from './forms.ts'

/** Adds the pages of requests. */
export function addApprovals(app: FastifyInstance, edge: Edge): void {
  addForms(app, edge, '/approvals', async (token, address, form) => {
    const { approvals } = edge.operations
    const word = form?.get('answer')
    const isAnswer = word === 'approve' || word === 'decline'
    const view = isAnswer
      ? await approvals.answer(token, word, form?.get('costs') ?? undefined)
      : await approvals.open(token, address)
    if (isAnswer && view) await edge.afterWrite?.()
    return view ? { status: 200, text: approvalPage(view, isAnswer) } : { status: 404, text: missingPage() }
  })
}
