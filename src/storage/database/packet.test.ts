import { expect, test } from 'vitest'
import { Packet } from './packet.ts'

const nothing = (): void => {}
const connection = {
  stream: { cork: nothing, uncork: nothing },
  parse: nothing,
  bind: nothing,
  describe: nothing,
  execute: nothing,
  close: nothing,
  sync: nothing,
}
const statement = { name: 'one', text: 'select 1', values: [] }

function sent() {
  const packet = new Packet(1_000, true)
  const answer = packet.add(statement)
  packet.submit(connection)
  return { packet, answer }
}

test('a packet that was answered keeps nothing of what it sent', async () => {
  const { packet, answer } = sent()
  packet.handleCommandComplete({ text: 'SELECT 1' })
  packet.handleReadyForQuery()
  await expect(answer).resolves.toMatchObject({ rowCount: 1 })
  expect(packet.isEmpty).toBe(true)
})

test('a packet that failed keeps nothing of what it sent', async () => {
  const { packet, answer } = sent()
  packet.handleError(new Error('lost'))
  await expect(answer).rejects.toThrow('lost')
  expect(packet.isEmpty).toBe(true)
})
