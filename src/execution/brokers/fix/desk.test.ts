import { describe, expect, test, vi } from 'vitest'
import { fixMessage } from '../../../../test/support/fix-message.ts'
import { Desk, type Question } from './desk.ts'

const message = fixMessage('35=8|34=1')
const question = (name: string): Question<string> => ({
  request: { type: 'D', fields: {} },
  names: [name],
  hear: (heard) => ('refused' in heard ? heard.refused : 'heard'),
  unsent: 'unsent',
  unknown: 'unknown',
})

/** A desk whose messages go out under these numbers. */
const desk = (...numbers: (number | undefined)[]) => new Desk((_, sent) => sent(numbers.shift()), 1_000)

describe('a question', () => {
  test('is answered by its name, once', async () => {
    const made = desk(1)
    const asked = made.ask(question('a'))
    expect([made.tell('b', { message }), made.tell('a', { message }), made.tell('a', { message })]).toEqual([
      ...[false, true, false],
    ])
    expect(await asked).toBe('heard')
  })

  test('may be refused by the number of its message', async () => {
    const made = desk(7, 8)
    const [first, second] = [made.ask(question('a')), made.ask(question('b'))]
    expect(made.tellSender(8, { refused: 'no' })).toBe(true)
    expect(made.tellSender(8, { refused: 'no' })).toBe(false)
    made.tell('a', { message })
    expect(await Promise.all([first, second])).toEqual(['heard', 'no'])
  })

  test('that did not go out is unsent', async () => {
    expect(await desk(undefined).ask(question('a'))).toBe('unsent')
  })

  test('is unknown when the connection is lost, or after its patience', async () => {
    const made = desk(1, 2)
    const lost = made.ask(question('a'))
    made.giveUp()
    expect(await lost).toBe('unknown')
    vi.useFakeTimers()
    const silent = made.ask(question('b'))
    vi.advanceTimersByTime(1_000)
    vi.useRealTimers()
    expect(await silent).toBe('unknown')
    expect(made.tell('b', { message })).toBe(false)
  })
})
