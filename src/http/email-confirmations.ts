/** Where the link of a message leads to: whoever has the address says that it is his. */
import type { FastifyInstance } from 'fastify'
import type { Edge } from './exchange.ts'
import { addForms } from './forms.ts'
import { confirmedPage, confirmPage, unknownLinkPage } from './pages.ts'

/** Adds the pages of links to new addresses. */
export function addEmailConfirmations(app: FastifyInstance, edge: Edge): void {
  addForms(app, edge, '/confirm-email', async (token, _, form) => {
    const { emailConfirmations } = edge.operations
    const isGood = await (form ? emailConfirmations.confirm(token) : emailConfirmations.isGood(token))
    if (!isGood) return { status: 404, text: unknownLinkPage }
    return { status: 200, text: form ? confirmedPage : confirmPage }
  })
}
