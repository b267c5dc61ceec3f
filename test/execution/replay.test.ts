/** Recorded markets: what is read, when it is published, where it carries on. */
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import type { Feed, FeedSink, MarketBar, MarketQuote } from '../../src/execution/market/feed.ts'
import { type Recording, replayFeed } from '../../src/execution/market/replay.ts'
import { createWorker, type Worker } from '../../src/execution/worker.ts'
import { testDatabase } from '../support/database.ts'
import { addInstrument, addStrategy, makeWorld, opening, place, readSignal } from './world.ts'

const { db } = await testDatabase()

const quotes = `symbol,t,bid,ask,bidSize,askSize
A,2024-03-12T14:00:00Z,1.5,1.75,100,200
B,2024-03-12T14:00:00Z,10,11,,
A,2024-03-12T14:00:01Z,1.6,1.80,,5
A,2024-03-12T14:00:03.500Z,1.7,1.9,1,2
`
const bars = `symbol,t,o,h,l,c,v
A,${opening},1,4,0.5,2,1000
A,${opening + 60_000},2,3,1.5,2.5,
`

let recordings = 0
const recordingOf = (text: string, wish: Partial<Recording> = {}): Recording => {
  recordings += 1
  return { name: `recording ${recordings}`, open: () => Readable.from([text]), speed: 1, ...wish }
}

const jumping = (clock: { time: number }) => async (milliseconds: number) => {
  clock.time += Math.ceil(milliseconds)
}

/** Runs the feed by a clock that jumps over every wait; answers what was published, and when. */
async function play(recording: Recording, options: { failAt?: number; abortAt?: number } = {}) {
  const { clock } = makeWorld(db)
  const heard: { after: number; items: readonly (MarketQuote | MarketBar)[] }[] = []
  const ending = new AbortController()
  const hear = async (items: readonly (MarketQuote | MarketBar)[]) => {
    if (heard.length === options.failAt) throw new Error('the sink broke')
    heard.push({ after: clock.time - opening, items })
    if (heard.length === options.abortAt) ending.abort()
  }
  const sink: FeedSink = { quotes: hear, bars: hear }
  await replayFeed(db, clock, recording, jumping(clock)).run(sink, ending.signal)
  return heard
}

test('quotes of one moment are one batch, at the recorded pace', async () => {
  expect(await play(recordingOf(quotes))).toEqual([
    {
      after: 0,
      items: [
        { symbol: 'A', at: opening, bid: dec('1.5'), ask: dec('1.75'), bidSize: dec(100), askSize: dec(200) },
        { symbol: 'B', at: opening, bid: dec(10), ask: dec(11) },
      ],
    },
    {
      after: 1_000,
      items: [{ symbol: 'A', at: opening + 1_000, bid: dec('1.6'), ask: dec('1.8'), askSize: dec(5) }],
    },
    {
      after: 3_500,
      items: [
        {
          symbol: 'A',
          at: opening + 3_500,
          bid: dec('1.7'),
          ask: dec('1.9'),
          bidSize: dec(1),
          askSize: dec(2),
        },
      ],
    },
  ])
})

test.each([
  { speed: 2, afters: [0, 500, 1_750] },
  { speed: 0.5, afters: [0, 2_000, 7_000] },
  { speed: Number.POSITIVE_INFINITY, afters: [0, 0, 0] },
])('speed $speed', async ({ speed, afters }) => {
  const heard = await play(recordingOf(quotes, { speed }))
  expect(heard.map(({ after }) => after)).toEqual(afters)
  expect(heard.map(({ items }) => (items[0]?.at ?? 0) - opening)).toEqual(afters)
})

test('bars are over as they come, and have a volume where one was recorded', async () => {
  const [first, second] = await play(recordingOf(bars))
  expect(first?.items).toEqual([
    {
      symbol: 'A',
      at: opening,
      endsAt: opening,
      open: dec(1),
      high: dec(4),
      low: dec('0.5'),
      close: dec(2),
      volume: dec(1000),
    },
  ])
  expect(second).toMatchObject({ after: 60_000, items: [{ endsAt: opening + 60_000 }] })
  expect(second?.items[0]).not.toHaveProperty('volume')
})

test('carries on behind what was published, and not again from the start', async () => {
  const recording = recordingOf(quotes)
  expect(await play(recording, { abortAt: 1 })).toHaveLength(1)
  await expect(play(recording, { failAt: 1 })).rejects.toThrow('the sink broke')
  const rest = await play(recording)
  expect(rest).toMatchObject([{ after: 0, items: [{ bid: dec('1.7') }] }])
  expect(await play(recording)).toEqual([])
})

test.each([
  { name: 'time backwards', text: `symbol,t,bid,ask\nA,2000,1,2\nA,1000,1,2\n`, message: 'row 2 is older' },
  { name: 'no time', text: `symbol,t,bid,ask\nA,soon,1,2\n`, message: 'row 1 has no time' },
  { name: 'no price', text: `symbol,t,bid,ask\nA,1000,,2\n`, message: 'no bid' },
  { name: 'no number', text: `symbol,t,o,h,l,c\nA,1000,1,x,1,1\n`, message: 'no number as h' },
  { name: 'not finite', text: `symbol,t,bid,ask\nA,1000,1,Infinity\n`, message: 'no number as ask' },
  { name: 'no symbol', text: `t,bid,ask\n1000,1,2\n`, message: 'no symbol' },
  { name: 'a short row', text: `symbol,t,bid,ask\nA,1000\n`, message: 'Record Length' },
])('unreadable: $name', async ({ text, message }) => {
  await expect(play(recordingOf(text))).rejects.toThrow(message)
})

test('a source that breaks breaks the run', async () => {
  const open = () =>
    new Readable({
      read() {
        this.destroy(new Error('no such file'))
      },
    })
  await expect(play(recordingOf('', { open }))).rejects.toThrow('no such file')
})

test('orders fill against the recording when a worker runs it', async () => {
  const world = makeWorld(db)
  const strategyId = await addStrategy(db)
  const { symbol, id: instrumentId } = await addInstrument(db)
  const id = await place(world, { strategyId, instrumentId, side: '1', limit: '1.6' })
  const text = `symbol,t,o,h,l,c\n${symbol},${opening},2,2,1.7,1.9\n${symbol},${opening + 60_000},1.9,2,1.5,1.8\n`
  const feed = replayFeed(db, world.clock, recordingOf(text), jumping(world.clock))
  let worker: Worker | undefined
  await new Promise<void>((resolve) => {
    const watched: Feed = { ...feed, run: (...args) => feed.run(...args).finally(resolve) }
    worker = createWorker({ ctx: world.ctx, steps: [], feeds: [watched] })
    void worker.start()
  })
  await worker?.stop()
  expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: 1.6, endedAt: opening + 60_000 })
})
