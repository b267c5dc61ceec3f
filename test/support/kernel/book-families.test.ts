import { describe, test } from 'vitest'
import { entry, parent, type Story, tell } from './book-story.ts'

const deep = Array.from({ length: 11 }, (_, index) => {
  const waits = index > 0
  const outcome = `applied | 0 | P${index} ${waits ? 'A' : '0'} 0/1 O${waits ? ` P${index - 1}` : ''}`
  return `submit P${index} buy 1 limit 50${waits ? ` parent=P${index - 1}` : ''} | ${outcome}`
}).join('\n')

// biome-ignore format: a story is a table
const conditional: Story[] = [
  ['a parent must exist and be live or filled', 0, `${parent}
    submit A buy 1 limit 9 parent=Q | refused unknownParent | 0 |
    cancel P                        | applied | 0 | P 4 0/100 O
    submit A buy 1 limit 9 parent=P | refused parentEnded | 0 |
    submit R buy 10 limit 50        | applied | 0 | R 0 0/10 O
    submit A buy 1 limit 9 parent=A | refused unknownParent | 0 |
    replace R S 10 49               | applied | 0 | R 5 0/10 O, S 0 0/10 O
    submit A buy 1 limit 9 parent=R | refused parentEnded | 0 |
    expire S                        | applied | 0 | S C 0/10 O
    submit A buy 1 limit 9 parent=S | refused parentEnded | 0 |
    submit T buy 10 limit 50        | applied | 0 | T 0 0/10 O
    reject T                        | applied | 0 | T 8 0/10 O
    submit A buy 1 limit 9 parent=T | refused parentEnded | 0 |`],
  ['ten ancestors at most', 0, `${deep}
    submit P11 buy 1 limit 50 parent=P10 | refused tooManyAncestors | 0 |`],
  ['held until the parent is completely filled', 0, `${parent}
    submit A buy 5 limit 40 parent=P | applied | 0   | A A 0/5 O P
    fill P 40                        | applied | 40  | P 1 40/100 O
    fill P 60                        | applied | 100 | P 2 100/100 O, A 0 0/5 O P`],
  ['a child of a filled parent starts at once', 0, `${parent}
    fill P 100                            | applied  | 100 | P 2 100/100 O
    submit A buy 5 limit 40 parent=P      | applied  | 100 | A 0 0/5 O P
    submit B sell 500 limit 60 parent=P   | applied  | 100 | B 0 0/100 C P
    submit C sell 5 limit 60 parent=P as=O target=50 | rejected | 100 | C 8 0/5 O P "close the opposite position first"`],
  ['without a word it closes what its parent opens, otherwise it opens', 100, `${parent.replace('| 0 |', '| 100 |')}
    submit A sell 5 limit 60 parent=P | applied | 100 | A A 0/5 C P
    submit B buy 5 limit 60 parent=P  | applied | 100 | B A 0/5 O P
    submit X sell 5 limit 60          | applied | 100 | X 0 0/5 C
    submit C buy 5 limit 60 parent=X  | applied | 100 | C A 0/5 O X
    submit D sell 5 limit 60 parent=X | applied | 100 | D A 0/5 O X`],
  ['released against the position it is rejected', 0, `${parent}
    submit A sell 5 limit 60 parent=P as=O target=50 loss=70 | applied | 0 | A A 0/5 O P, At A 0/5 C A Ag, Al A 0/5 C A Ag
    submit B sell 1 limit 60 parent=A | applied | 0 | B A 0/1 O A
    fill P 100 | applied | 100 | P 2 100/100 O, A 8 0/5 O P "close the opposite position first", At 4 0/5 C A Ag "entry ended", Al 4 0/5 C A Ag "entry ended", B 4 0/1 O A "parent ended"`],
  ['a closing child is cut to the position at its release', 0, `${parent}
    submit A sell 150 limit 60 parent=P | applied | 0   | A A 0/150 C P
    fill P 100                          | applied | 100 | P 2 100/100 O, A 0 0/100 C P`],
  ['flat or on the wrong side it is rejected', 10, `
    submit P sell 10                         | applied | 10 | P 0 0/10 C
    submit A sell 5 limit 60 parent=P as=C   | applied | 10 | A A 0/5 C P
    submit B buy 5 limit 60 parent=P as=C    | applied | 10 | B A 0/5 C P
    fill P 10                                | applied | 0  | P 2 10/10 C, A 8 0/5 C P "no position to close", B 8 0/5 C P "no position to close"`],
  ['a parent that ends takes its children along, recursively', 0, `${parent}
    submit A buy 5 limit 40 parent=P loss=30 | applied | 0 | A A 0/5 O P, Al A 0/5 C A
    submit B buy 5 limit 40 parent=A         | applied | 0 | B A 0/5 O A
    submit C buy 5 limit 40 parent=Al        | applied | 0 | C A 0/5 O Al
    expire P | applied | 0 | P C 0/100 O, A 4 0/5 O P "parent ended", Al 4 0/5 C A "entry ended", B 4 0/5 O A "parent ended", C 4 0/5 O Al "parent ended"`],
  ['a part-filled parent releases its closing children for what it filled', 0, `${parent}
    submit A sell 100 limit 60 parent=P | applied | 0  | A A 0/100 C P
    submit B sell 10 stop 40 parent=P   | applied | 0  | B A 0/10 C P
    submit C buy 10 limit 40 parent=P   | applied | 0  | C A 0/10 O P
    fill P 30                           | applied | 30 | P 1 30/100 O
    cancel P                            | applied | 30 | P 4 30/100 O, A 0 0/30 C P, B 0 0/10 C P, C 4 0/10 O P "parent ended"`],
  ['a closing parent ended by the clamp counts as complete', 100, `
    submit P sell 100 limit 60              | applied | 100 | P 0 0/100 C
    submit A sell 7 limit 60 parent=P as=O  | applied | 100 | A A 0/7 O P
    submit M sell 60                        | applied | 100 | M 0 0/60 C
    fill M 60                               | applied | 40  | M 2 60/60 C
    fill P 100                              | applied | 0   | P 4 40/100 C "position closed", A 0 0/7 O P`],
  ['one ended because another order closed the position does not', 100, `
    submit P sell 100 limit 60              | applied | 100 | P 0 0/100 C
    submit A sell 7 limit 60 parent=P as=O  | applied | 100 | A A 0/7 O P
    submit M sell 100                       | applied | 100 | M 0 0/100 C
    fill M 100                              | applied | 0   | P 4 0/100 C "position closed", A 4 0/7 O P "parent ended", M 2 100/100 C`],
  ['the child follows the replacement of its parent', 0, `${parent}
    submit A buy 5 limit 40 parent=P | applied | 0   | A A 0/5 O P
    replace P R 50 49                | applied | 0   | P 5 0/100 O, A A 0/5 O R, R 0 0/50 O
    fill R 50                        | applied | 50  | A 0 0/5 O R, R 2 50/50 O`],
  ['a replacement that is complete already releases them', 0, `${parent}
    submit A buy 5 limit 40 parent=P | applied | 0   | A A 0/5 O P
    fill P 50                        | applied | 50  | P 1 50/100 O
    replace P R 40                   | applied | 50  | P 5 50/100 O, A 0 0/5 O R, R 2 50/50 O`],
  ['a held child is replaced and goes on waiting', 0, `${parent}
    submit A buy 5 limit 40 parent=P loss=30 | applied | 0 | A A 0/5 O P, Al A 0/5 C A
    replace A B 8                    | applied | 0   | A 5 0/5 O P, Al A 0/8 C B, B A 0/8 O P
    fill P 100                       | applied | 100 | P 2 100/100 O, B 0 0/8 O P`],
  ['a held order that fills is an anomaly, and waits no longer', 0, `${parent}
    submit A buy 5 limit 40 parent=P loss=30 | applied | 0 | A A 0/5 O P, Al A 0/5 C A
    fill A 3                         | anomaly | 3   | A 1 3/5 O P, Al 0 0/3 C A
    fill P 100                       | applied | 103 | P 2 100/100 O`],
  ['nor does it end with its parent then', 0, `${parent}
    submit A buy 5 limit 40 parent=P | applied | 0 | A A 0/5 O P
    fill A 3                         | anomaly | 3 | A 1 3/5 O P
    cancel P                         | applied | 3 | P 4 0/100 O`],
  ['a parent that filled nothing has nothing to close for its children', 10, `${parent.replace('| 0 |', '| 10 |')}
    submit A sell 5 limit 60 parent=P | applied | 10 | A A 0/5 C P
    expire P                          | applied | 10 | P C 0/100 O, A 4 0/5 C P "parent ended"`],
]

// biome-ignore format: a story is a table
const reduceOnly: Story[] = [
  ['a closing order trades at most the position', 50, `
    submit A sell 50 limit 60  | applied | 50 | A 0 0/50 C
    submit B sell 20           | applied | 50 | B 0 0/20 C
    fill B 20                  | applied | 30 | B 2 20/20 C
    fill A 50                  | applied | 0  | A 4 30/50 C "position closed"`],
  ['exhausting the position with its whole quantity it is filled', -30, `
    submit A buy 30 limit 60   | applied | -30 | A 0 0/30 C
    fill A 40                  | applied | 0   | A 2 30/30 C`],
  ['flat ends every other working closing order and the rest of the entry', 0, `${entry}
    submit H buy 9 limit 45 parent=E | applied | 0 | H A 0/9 O E
    fill E 60      | applied | 60 | E 1 60/100 O, Et 0 0/60 C E Eg, El 0 0/60 C E Eg
    submit M sell 60 | applied | 60 | M 0 0/60 C
    submit N sell 10 stop 40 | applied | 60 | N 0 0/10 C
    fill M 60      | applied | 0 | E 4 60/100 O "position closed", Et 4 0/60 C E Eg "position closed", El 4 0/60 C E Eg "position closed", H 4 0/9 O E "parent ended", M 2 60/60 C, N 4 0/10 C "position closed"`],
  ['so does an exit that closes it', 0, `${entry}
    fill E 60      | applied | 60 | E 1 60/100 O, Et 0 0/60 C E Eg, El 0 0/60 C E Eg
    fill El 60     | applied | 0  | E 4 60/100 O "position closed", Et 4 0/60 C E Eg "position closed", El 2 60/60 C E Eg`],
  ['a new entry that has not traded keeps its exits', 10, `${entry.replace('| 0 |', '| 10 |')}
    submit M sell 10 | applied | 10 | M 0 0/10 C
    fill M 10        | applied | 0  | M 2 10/10 C
    fill E 100       | applied | 100 | E 2 100/100 O, Et 0 0/100 C E Eg, El 0 0/100 C E Eg`],
  ['a fill that finds nothing to close is none', 10, `
    submit M sell 10 | applied | 10 | M 0 0/10 C
    submit N sell 10 | applied | 10 | N 0 0/10 C
    fill M 10        | applied | 0  | M 2 10/10 C, N 4 0/10 C "position closed"
    fill N 10        | ignored | 0  |
    fill X 10        | ignored | 0  |
    fill M 0         | ignored | 0  |`],
]

// biome-ignore format: a story is a table
const openClose: Story[] = [
  ['O: flat or in the same direction it opens', 0, `
    submit A buy 10 as=O  | applied | 0  | A 0 0/10 O
    fill A 10             | applied | 10 | A 2 10/10 O
    submit B buy 10 as=O  | applied | 10 | B 0 0/10 O`],
  ['O: against the position it is rejected', -5, `
    submit A buy 10 as=O  | rejected | -5 | A 8 0/10 O "close the opposite position first"
    cancel A              | refused notAllowedNow | -5 |`],
  ['C: against the position, up to its size', -5, `
    submit A buy 5 as=C   | applied  | -5 | A 0 0/5 C
    submit B buy 6 as=C   | rejected | -5 | B 8 0/6 C "quantity exceeds the position"
    submit C sell 5 as=C  | rejected | -5 | C 8 0/5 C "no position to close"`],
  ['C: flat it is rejected', 0, `
    submit A buy 5 as=C   | rejected | 0 | A 8 0/5 C "no position to close"`],
  ['without a word: opens, or closes up to the position', 5, `
    submit A buy 5        | applied  | 5 | A 0 0/5 O
    submit B sell 5       | applied  | 5 | B 0 0/5 C`],
  ['a reversal is two orders, the exits belong to the second', 100, `
    submit R sell 150 limit 60 target=50 loss=70 | applied | 100 | R 0 0/100 C, R2 A 0/50 O R, Rt A 0/50 C R2 Rg, Rl A 0/50 C R2 Rg
    fill R 100   | applied | 0   | R 2 100/100 C, R2 0 0/50 O R
    fill R2 20   | applied | -20 | R2 1 20/50 O R, Rt 0 0/20 C R2 Rg, Rl 0 0/20 C R2 Rg`],
  ['canceled before it trades the second goes with it', -100, `
    submit R buy 150 stop 60 loss=50 | applied | -100 | R 0 0/100 C, R2 A 0/50 O R, Rl A 0/50 C R2
    cancel R     | applied | -100 | R 4 0/100 C, R2 4 0/50 O R "parent ended", Rl 4 0/50 C R2 "entry ended"`],
  ['part-filled and canceled too', 100, `
    submit R sell 150 | applied | 100 | R 0 0/100 C, R2 A 0/50 O R
    fill R 40    | applied | 60  | R 1 40/100 C
    cancel R     | applied | 60  | R 4 40/100 C, R2 4 0/50 O R "parent ended"`],
  ['its first order ended by the clamp: the second starts', 100, `
    submit R sell 150 limit 60 | applied | 100 | R 0 0/100 C, R2 A 0/50 O R
    submit M sell 40 | applied | 100 | M 0 0/40 C
    fill M 40    | applied | 60  | M 2 40/40 C
    fill R 100   | applied | 0   | R 4 60/100 C "position closed", R2 0 0/50 O R`],
  ['an opening order that would act against the position at its fill ends', 0, `
    submit A buy 10 limit 50   | applied | 0  | A 0 0/10 O
    submit B sell 10 limit 60  | applied | 0  | B 0 0/10 O
    fill A 10                  | applied | 10 | A 2 10/10 O
    fill B 10                  | applied | 10 | B 4 0/10 O "position changed"
    fill B 10                  | ignored | 10 |`],
]

// biome-ignore format: a story is a table
const requests: Story[] = [
  ['what is not there cannot be canceled or replaced', 0, `
    cancel X      | refused unknownOrder | 0 |
    replace X Y 5 | refused unknownOrder | 0 |
    expire X      | ignored | 0 |
    reject X      | ignored | 0 |`],
  ['what has ended is neither replaced nor, unless canceled, canceled again', 0, `${parent}
    replace P Q 50 | applied | 0 | P 5 0/100 O, Q 0 0/50 O
    cancel P       | refused notAllowedNow | 0 |
    replace P R 50 | refused notAllowedNow | 0 |
    fill Q 50      | applied | 50 | Q 2 50/50 O
    cancel Q       | refused notAllowedNow | 50 |
    replace Q R 60 | refused notAllowedNow | 50 |
    expire Q       | ignored | 50 |
    reject Q       | ignored | 50 |`],
  ['a replacement carries the total of the chain', 0, `${parent}
    fill P 40      | applied  | 40 | P 1 40/100 O
    replace P Q 90 | applied  | 40 | P 5 40/100 O, Q 1 40/90 O
    fill P 10      | lateFill | 50 | P 5 50/100 O, Q 1 50/90 O
    fill Q 40      | applied  | 90 | Q 2 90/90 O`],
]

describe.each([
  ['conditional orders', conditional],
  ['closing orders only reduce', reduceOnly],
  ['open, close and reverse', openClose],
  ['requests', requests],
])('%s', (_, stories) => {
  test.each(stories)('%s', (_name, position, story) => {
    tell(position, story)
  })
})
