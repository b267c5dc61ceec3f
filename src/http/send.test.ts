import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { type Body, textOf } from '../contract/index.ts'
import { sendBody } from './send.ts'

const note = vi.hoisted(() => vi.fn())
vi.mock('./untaken.ts', () => ({ createUntaken: () => ({ note }) }))

/** What is sent of a body to somebody who takes it as it is. */
async function sent(body: Body) {
  const heard = { length: 0, text: '' }
  const response = {
    writeHead: (_status: number, headers: string[]) => {
      heard.length = Number(headers[headers.indexOf('Content-Length') + 1])
      return response
    },
    end: (bytes: string | Buffer) => {
      heard.text = bytes.toString()
    },
  }
  await sendBody(response as unknown as ServerResponse, 200, [], body, 'identity')
  return heard
}

test('a long list is sent as the text that it is', async () => {
  const items = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(items, fc.string({ unit: 'grapheme-ascii', minLength: 1 }), async (given, around) => {
      const body = { before: `[${around}`, items: given, after: `${around}]` }
      const text = textOf(body)
      expect(await sent(body)).toEqual({ length: Buffer.byteLength(text), text })
      expect(await sent(text)).toEqual({ length: Buffer.byteLength(text), text })
    }),
  )
})

test('a list beyond any page is sent as the text that it is, and others have their turn meanwhile', async () => {
  const items = Array.from({ length: 2_501 }, (_, at) => `"é${at}"`)
  const body = { before: '{"Results":[', items, after: ']}' }
  const other = vi.fn()
  setImmediate(other)
  const text = textOf(body)
  expect(await sent(body)).toEqual({ length: Buffer.byteLength(text), text })
  expect(other).toHaveBeenCalled()
})

test('every answer is looked after until it is taken', async () => {
  note.mockClear()
  const { length } = await sent('an answer')
  expect(note.mock.calls).toEqual([[expect.anything(), length]])
})
