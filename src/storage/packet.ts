/**
 * Statements that one turn of the event loop sends over a connection leave in one packet. The driver writes each
 * statement by itself, and such a write costs more than building the statement.
 */
import type pg from 'pg'

/** What the driver has below its clients, which its types do not tell. */
interface Wired {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
}

const gathering = new WeakSet<object>()

/** Holds what the client sends until the end of this turn. */
export function sendTogether(client: pg.ClientBase): void {
  const { stream } = (client as unknown as Wired).connection
  if (gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork()
  })
}
