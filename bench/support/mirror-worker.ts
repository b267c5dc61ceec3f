/**
 * A worker process as `start` runs it, at brokers that take 20 ms to answer. Tells its parent of every batch that
 * leaves. Started as a child with its database and a name.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { assembleWork } from '../../src/execution/assembly.ts'
import type { Broker } from '../../src/execution/brokers/broker.ts'
import { createPaperBroker } from '../../src/execution/brokers/paper.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { quiet } from './platform.ts'

const answerMs = 20
const [url = '', name = ''] = process.argv.slice(2)
const db = await openDatabase({ url, applicationName: 'bench worker', log: quiet })
const paper = createPaperBroker().broker
const far: Broker = {
  ...paper,
  place: async (ctx, brokerId, tickets, until) => {
    process.send?.({ sentAt: Date.now(), count: tickets.length })
    await delay(answerMs)
    return paper.place(ctx, brokerId, tickets, until)
  },
}
const { ctx, steps } = assembleWork({
  db,
  clock: { now: () => Date.now() },
  log: quiet,
  workerId: name,
  environment: 'B',
  brokers: { far },
})
const worker = createWorker({ ctx, steps })
await worker.start()
process.send?.('ready')
process.once('disconnect', () => process.exit())
