import { describe, expect, test } from 'vitest'
import { readQuery } from './query.ts'

const read = (text: string) => {
  const query = readQuery(text)
  return query === undefined ? undefined : [...query]
}

describe('query string', () => {
  test.each<[string, string, [string, string[]][]]>([
    ['nothing', '', []],
    ['one', 'A=1', [['A', ['1']]]],
    [
      'repeated',
      'A=1&B=2&A=3',
      [
        ['A', ['1', '3']],
        ['B', ['2']],
      ],
    ],
    ['no equals sign', 'A', [['A', ['']]]],
    ['empty value', 'A=', [['A', ['']]]],
    ['empty name', '=1', [['', ['1']]]],
    ['NUL in a value, which its reader refuses by its name', 'A=x%00', [['A', ['x\0']]]],
    ['empty pairs', '&&A=1&', [['A', ['1']]]],
    ['second equals sign belongs to the value', 'A=b==', [['A', ['b==']]]],
    ['plus is a blank', 'A=x+y%2B', [['A', ['x y+']]]],
    ['the last sign of ASCII beside an escape', 'A=~%20', [['A', ['~ ']]]],
    ['UTF-8', 'N%C3%A4me=%F0%9F%98%80', [['Näme', ['😀']]]],
    ['brackets and semicolons mean nothing', 'a[]=1;b=2', [['a[]', ['1;b=2']]]],
    [
      'names of the prototype',
      '__proto__=1&constructor=2',
      [
        ['__proto__', ['1']],
        ['constructor', ['2']],
      ],
    ],
  ])('%s', (_, text, expected) => expect(read(text)).toEqual(expected))

  test.each([
    ['half an escape', 'A=%4'],
    ['no hexadecimal', 'A=%zz'],
    ['no UTF-8', 'A=%ff'],
    ['a lone surrogate', 'A=%ED%A0%80'],
    ['NUL in a name', 'A%00=1'],
    ['undecodable name', '%=1'],
    ['raw byte above ASCII', 'A=\u00fc'],
    ['raw byte beside an escape', 'A=\u00fc%20'],
  ])('%s is unreadable', (_, text) => expect(readQuery(text)).toBeUndefined())
})
