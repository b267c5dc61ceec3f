import { describe, expect, test } from 'vitest'
import { call, entry, type Story, stepOf, tell, whole } from './book-story.ts'

// biome-ignore format: a story is a table
const newOrder: Story[] = [
  ['exits exist from the start, held, on the other side, in a group of their own', 0, `
    submit E buy 100 limit 50 target=55 loss=45 | applied | 0 | E 0 0/100 O, Et A 0/100 C E Eg, El A 0/100 C E Eg`],
  ['one exit needs no group', 0, `
    submit E buy 100 limit 50 loss=45   | applied | 0 | E 0 0/100 O, El A 0/100 C E
    submit F sell 10 stop 40 target=35  | applied | 0 | F 0 0/10 O, Ft A 0/10 C F`],
  ['exits that know nothing of each other', 0, `
    submit E buy 100 limit 50 target=55 loss=45 group=none | applied | 0 | E 0 0/100 O, Et A 0/100 C E, El A 0/100 C E`],
  ['a long entry needs stop loss < reference < profit target', 0, `
    submit A buy 100 limit 50 target=50 loss=45 | refused profitTargetOnWrongSide | 0 |
    submit A buy 100 limit 50 target=49         | refused profitTargetOnWrongSide | 0 |
    submit A buy 100 stop 50 target=55 loss=50  | refused stopLossOnWrongSide | 0 |
    submit A buy 100 stop 50 loss=51            | refused stopLossOnWrongSide | 0 |`],
  ['a short entry is the mirror image', 0, `
    submit A sell 100 limit 50 target=50 loss=55 | refused profitTargetOnWrongSide | 0 |
    submit A sell 100 limit 50 target=45 loss=50 | refused stopLossOnWrongSide | 0 |
    submit A sell 100 limit 50 target=45 loss=55 | applied | 0 | A 0 0/100 O, At A 0/100 C A Ag, Al A 0/100 C A Ag`],
  ['without a reference the exits are compared with each other', 0, `
    submit A buy 100 market target=45 loss=45  | refused stopLossOnWrongSide | 0 |
    submit A sell 100 market target=45 loss=44 | refused stopLossOnWrongSide | 0 |
    submit A sell 100 market target=44 loss=45 | applied | 0 | A 0 0/100 O, At A 0/100 C A Ag, Al A 0/100 C A Ag`],
  ['a closing order has no exits, whoever made it close', 100, `
    submit A sell 50 limit 50 as=C loss=55   | refused exitsOfClosingOrder | 100 |
    submit A sell 50 limit 50 loss=55        | refused exitsOfClosingOrder | 100 |
    submit A sell 500 limit 50 as=C loss=55  | refused exitsOfClosingOrder | 100 |
    submit P buy 5 limit 50                  | applied | 100 | P 0 0/5 O
    submit A sell 5 limit 50 parent=P loss=55 | refused exitsOfClosingOrder | 100 |`],
  ['exits of an order that is rejected are not created', 100, `
    submit E sell 50 limit 50 as=O target=45 loss=55 | rejected | 100 | E 8 0/50 O "close the opposite position first"`],
  ['until the entry trades the exits carry its quantity and follow it', 0, `
    submit E buy 100 limit 50 target=55 loss=45 | applied | 0 | E 0 0/100 O, Et A 0/100 C E Eg, El A 0/100 C E Eg
    replace E F 80 49                           | applied | 0 | E 5 0/100 O, Et A 0/80 C F Eg, El A 0/80 C F Eg, F 0 0/80 O
    replace F G 120                             | applied | 0 | Et A 0/120 C G Eg, El A 0/120 C G Eg, F 5 0/80 O, G 0 0/120 O`],
  ['an id is used once, a quantity is positive', 0, `
    submit E buy 100 limit 50  | applied | 0 | E 0 0/100 O
    submit E buy 100 limit 50  | refused duplicateId | 0 |
    submit F buy 0 limit 50    | refused quantityNotPositive | 0 |
    replace E E 50             | refused duplicateId | 0 |
    replace E F 0              | refused quantityNotPositive | 0 |`],
]

// biome-ignore format: a story is a table
const partialTrigger: Story[] = [
  ['exits work for what is filled, each further fill raises both', 0, `${entry}
    fill E 40   | applied | 40  | E 1 40/100 O, Et 0 0/40 C E Eg, El 0 0/40 C E Eg
    fill E 60   | applied | 100 | E 2 100/100 O, Et 0 0/100 C E Eg, El 0 0/100 C E Eg`],
  ['an entry that ends part-filled leaves its exits working', 0, `${entry}
    fill E 40   | applied | 40  | E 1 40/100 O, Et 0 0/40 C E Eg, El 0 0/40 C E Eg
    cancel E    | applied | 40  | E 4 40/100 O
    cancel E    | ignored | 40  |`],
  ['the same when it expires', 0, `${entry}
    fill E 40   | applied | 40  | E 1 40/100 O, Et 0 0/40 C E Eg, El 0 0/40 C E Eg
    expire E    | applied | 40  | E C 40/100 O`],
  ['the same when a venue rejects the rest: that is a cancel', 0, `${entry}
    fill E 40   | applied | 40  | E 1 40/100 O, Et 0 0/40 C E Eg, El 0 0/40 C E Eg
    reject E    | anomaly | 40  | E 4 40/100 O`],
  ['with nothing filled the exits end: canceled', 0, `${entry}
    cancel E    | applied | 0   | E 4 0/100 O, Et 4 0/100 C E Eg "entry ended", El 4 0/100 C E Eg "entry ended"`],
  ['with nothing filled the exits end: expired', 0, `${entry}
    expire E    | applied | 0   | E C 0/100 O, Et 4 0/100 C E Eg "entry ended", El 4 0/100 C E Eg "entry ended"`],
  ['with nothing filled the exits end: rejected', 0, `${entry}
    reject E    | applied | 0   | E 8 0/100 O, Et 4 0/100 C E Eg "entry ended", El 4 0/100 C E Eg "entry ended"`],
  ['a late fill raises exits that still work', 0, `${entry}
    fill E 40   | applied  | 40 | E 1 40/100 O, Et 0 0/40 C E Eg, El 0 0/40 C E Eg
    cancel E    | applied  | 40 | E 4 40/100 O
    fill E 10   | lateFill | 50 | E 4 50/100 O, Et 0 0/50 C E Eg, El 0 0/50 C E Eg
    fill E 50   | lateFill | 100 | E 2 100/100 O, Et 0 0/100 C E Eg, El 0 0/100 C E Eg`],
  ['a late fill of an entry whose exits ended opens new ones', 0, `${entry}
    cancel E    | applied  | 0  | E 4 0/100 O, Et 4 0/100 C E Eg "entry ended", El 4 0/100 C E Eg "entry ended"
    fill E 30   | lateFill | 30 | E 4 30/100 O, E.pt.2 0 0/30 C E E.oca.2, E.sl.2 0 0/30 C E E.oca.2
    fill E 10   | lateFill | 40 | E 4 40/100 O, E.pt.2 0 0/40 C E E.oca.2, E.sl.2 0 0/40 C E E.oca.2
    fill E.pt.2 25 | applied | 15 | E.pt.2 1 25/40 C E E.oca.2, E.sl.2 0 0/15 C E E.oca.2`],
  ['new exits stand for the new lots only', 0, `${entry}
    fill E 60   | applied  | 60 | E 1 60/100 O, Et 0 0/60 C E Eg, El 0 0/60 C E Eg
    cancel Et   | applied  | 60 | Et 4 0/60 C E Eg, El 4 0/60 C E Eg "other exit canceled"
    cancel E    | applied  | 60 | E 4 60/100 O
    fill E 10   | lateFill | 70 | E 4 70/100 O, E.pt.4 0 0/10 C E E.oca.4, E.sl.4 0 0/10 C E E.oca.4
    fill E.sl.4 4 | applied | 66 | E.pt.4 0 0/6 C E E.oca.4, E.sl.4 1 4/10 C E E.oca.4`],
  ['a rejected entry that fills all the same is protected', 0, `
    submit E buy 100 limit 50 loss=45 | applied | 0 | E 0 0/100 O, El A 0/100 C E
    reject E    | applied | 0  | E 8 0/100 O, El 4 0/100 C E "entry ended"
    fill E 30   | anomaly | 30 | E 1 30/100 O, E.sl.2 0 0/30 C E
    fill E 70   | applied | 100 | E 2 100/100 O, E.sl.2 0 0/100 C E`],
  ['an owner who canceled the exits goes on without', 0, `${entry}
    fill E 40   | applied | 40  | E 1 40/100 O, Et 0 0/40 C E Eg, El 0 0/40 C E Eg
    cancel El   | applied | 40  | Et 4 0/40 C E Eg "other exit canceled", El 4 0/40 C E Eg
    fill E 60   | applied | 100 | E 2 100/100 O`],
  ['exits lost to a venue are opened again', 0, `
    submit E buy 100 limit 50 loss=45 | applied | 0 | E 0 0/100 O, El A 0/100 C E
    fill E 40   | applied | 40  | E 1 40/100 O, El 0 0/40 C E
    reject El   | applied | 40  | El 8 0/40 C E
    fill E 60   | applied | 100 | E 2 100/100 O, E.sl.3 0 0/60 C E`],
  ['also when their owner had replaced them', 0, `
    submit E buy 100 limit 50 loss=45 | applied | 0 | E 0 0/100 O, El A 0/100 C E
    fill E 40   | applied | 40  | E 1 40/100 O, El 0 0/40 C E
    replace El S 40 46 | applied | 40 | El 5 0/40 C E, S 0 0/40 C E
    reject S    | applied | 40  | S 8 0/40 C E
    fill E 60   | applied | 100 | E 2 100/100 O, E.sl.4 0 0/60 C E`],
  ['the first exit fill withdraws the unfilled rest of the entry', 0, `${entry}
    fill E 60   | applied | 60  | E 1 60/100 O, Et 0 0/60 C E Eg, El 0 0/60 C E Eg
    fill Et 20  | applied | 40  | E 4 60/100 O "exit filled", Et 1 20/60 C E Eg, El 0 0/40 C E Eg
    fill E 10   | lateFill | 50 | E 4 70/100 O "exit filled", Et 1 20/70 C E Eg, El 0 0/50 C E Eg`],
  ['also when the exits are independent', 0, `
    submit E buy 100 limit 50 target=55 loss=45 group=none | applied | 0 | E 0 0/100 O, Et A 0/100 C E, El A 0/100 C E
    fill E 60   | applied | 60  | E 1 60/100 O, Et 0 0/60 C E, El 0 0/60 C E
    fill El 20  | applied | 40  | E 4 60/100 O "exit filled", El 1 20/60 C E`],
  ['an overfill is protected too', 0, `${entry}
    fill E 105  | overfill | 105 | E 2 105/100 O, Et 0 0/105 C E Eg, El 0 0/105 C E Eg`],
  ['a fill of a replaced entry counts for its replacement', 0, `${entry}
    replace E F 80 49 | applied  | 0  | E 5 0/100 O, Et A 0/80 C F Eg, El A 0/80 C F Eg, F 0 0/80 O
    fill E 30   | lateFill | 30 | E 5 30/100 O, Et 0 0/30 C F Eg, El 0 0/30 C F Eg, F 1 30/80 O
    fill F 50   | applied  | 80 | Et 0 0/80 C F Eg, El 0 0/80 C F Eg, F 2 80/80 O`],
  ['replaced after it traded: the exits stay as large as what is filled', 0, `${entry}
    fill E 40   | applied | 40 | E 1 40/100 O, Et 0 0/40 C E Eg, El 0 0/40 C E Eg
    replace E F 60 | applied | 40 | E 5 40/100 O, Et 0 0/40 C F Eg, El 0 0/40 C F Eg, F 1 40/60 O
    fill F 20   | applied | 60 | Et 0 0/60 C F Eg, El 0 0/60 C F Eg, F 2 60/60 O`],
]

// biome-ignore format: a story is a table
const ocaGroup: Story[] = [
  ['equal members shrink by what one fills', 0, `${whole}
    fill Et 30  | applied | 70  | Et 1 30/100 C E Eg, El 0 0/70 C E Eg
    fill El 20  | applied | 50  | Et 1 30/80 C E Eg, El 1 20/70 C E Eg
    fill Et 50  | applied | 0   | Et 2 80/80 C E Eg, El 4 20/70 C E Eg "position closed"`],
  ['a member that its owner made smaller lives while lots are unprotected', 0, `${whole}
    replace El S 30 45 | applied | 100 | El 5 0/100 C E Eg, S 0 0/30 C E Eg
    fill Et 60  | applied | 40  | Et 1 60/100 C E Eg
    fill Et 20  | applied | 20  | Et 1 80/100 C E Eg, S 0 0/20 C E Eg
    fill S 5    | applied | 15  | Et 1 80/95 C E Eg, S 1 5/20 C E Eg`],
  ['one with more than the entry filled ends the others once all is closed', 50, `${entry.replace('| 0 |', '| 50 |')}
    fill E 100  | applied | 150 | E 2 100/100 O, Et 0 0/100 C E Eg, El 0 0/100 C E Eg
    replace Et U 130 | applied | 150 | Et 5 0/100 C E Eg, U 0 0/130 C E Eg
    fill U 100  | applied | 50  | El 4 0/100 C E Eg "other exit filled", U 1 100/130 C E Eg`],
  ['also when it closes more than the entry filled', 50, `${entry.replace('| 0 |', '| 50 |')}
    fill E 100  | applied | 150 | E 2 100/100 O, Et 0 0/100 C E Eg, El 0 0/100 C E Eg
    replace Et U 130 | applied | 150 | Et 5 0/100 C E Eg, U 0 0/130 C E Eg
    fill U 110  | applied | 40  | El 4 0/100 C E Eg "other exit filled", U 1 110/130 C E Eg`],
  ['a member that fills completely cancels the others unshrunk', 10, `${entry.replace('| 0 |', '| 10 |')}
    fill E 100  | applied | 110 | E 2 100/100 O, Et 0 0/100 C E Eg, El 0 0/100 C E Eg
    fill Et 100 | applied | 10  | Et 2 100/100 C E Eg, El 4 0/100 C E Eg "other exit filled"`],
  ['also when its owner made it smaller', 0, `${whole}
    replace Et U 30 | applied | 100 | Et 5 0/100 C E Eg, U 0 0/30 C E Eg
    fill U 30   | applied | 70  | El 4 0/100 C E Eg "other exit filled", U 2 30/30 C E Eg`],
  ['one ended by the clamp shrinks the others first', 0, `${whole}
    submit M sell 60 as=C | applied | 100 | M 0 0/60 C
    fill M 60   | applied | 40  | M 2 60/60 C
    fill Et 100 | applied | 0   | Et 4 40/100 C E Eg "position closed", El 4 0/60 C E Eg "position closed"`],
  ['a member canceled by its owner takes the others along', 0, `${whole}
    cancel Et   | applied | 100 | Et 4 0/100 C E Eg, El 4 0/100 C E Eg "other exit canceled"`],
  ['held members too', 0, `${entry}
    cancel El   | applied | 0   | Et 4 0/100 C E Eg "other exit canceled", El 4 0/100 C E Eg`],
  ['a replacement takes its place in the group, nothing else happens', 0, `${whole}
    replace Et U 100 57 | applied | 100 | Et 5 0/100 C E Eg, U 0 0/100 C E Eg
    fill U 30   | applied | 70  | El 0 0/70 C E Eg, U 1 30/100 C E Eg
    replace U V 100 58 | applied | 70 | U 5 30/100 C E Eg, V 1 30/100 C E Eg
    fill El 10  | applied | 60  | El 1 10/70 C E Eg, V 1 30/90 C E Eg
    cancel V    | applied | 60  | El 4 10/70 C E Eg "other exit canceled", V 4 30/90 C E Eg`],
  ['a member that expires or is rejected leaves the others', 0, `${whole}
    expire Et   | applied | 100 | Et C 0/100 C E Eg
    fill El 30  | applied | 70  | El 1 30/100 C E Eg
    reject El   | anomaly | 70  | El 4 30/100 C E Eg`],
  ['independent exits do not shrink, they are clamped', 0, `
    submit E buy 100 limit 50 target=55 loss=45 group=none | applied | 0 | E 0 0/100 O, Et A 0/100 C E, El A 0/100 C E
    fill E 100  | applied | 100 | E 2 100/100 O, Et 0 0/100 C E, El 0 0/100 C E
    fill Et 70  | applied | 30  | Et 1 70/100 C E
    cancel Et   | applied | 30  | Et 4 70/100 C E
    fill El 100 | applied | 0   | El 4 30/100 C E "position closed"`],
]

describe.each([
  ['a new order and its exits', newOrder],
  ['exits work for every lot as it is filled', partialTrigger],
  ['one cancels all', ocaGroup],
])('%s', (_, stories) => {
  test.each(stories)('%s', (_name, position, story) => {
    tell(position, story)
  })
})

describe('the form of an answer', () => {
  test('ids come back as they came, and families are null without one', () => {
    const ids = { pt: 3, sl: 4, oca: 9 }
    const steps = [
      { op: 'submit', id: 2, side: '2', type: '1', qty: 150, openId: 5, profitTarget: 1, stopLoss: 2, ids },
    ]
    const [result] = call({ position: 100, steps })
    expect(result?.orders).toMatchObject({
      2: { openClose: 'C', parentSignalId: null, ocaGroup: null },
      5: { openClose: 'O', parentSignalId: 2, ocaGroup: null },
      3: { parentSignalId: 5, ocaGroup: 9 },
      4: { parentSignalId: 5, ocaGroup: 9 },
    })
  })

  test('a fill after the exits ended, and an exit that is lost, are told to the operator', () => {
    const alertsOf = (story: string) =>
      call({ steps: story.split('; ').map(stepOf) }).flatMap(({ alerts }) => alerts)
    const bracket = 'submit E buy 100 limit 50 target=55 loss=45'
    expect(alertsOf(`${bracket}; fill E 100; fill Et 50; cancel El`)).toEqual([])
    expect(alertsOf(`${bracket}; cancel E; fill E 5`)).toEqual([{ orderId: 'E', alert: 'exitsReopened' }])
    expect(alertsOf(`${bracket}; fill E 5; expire Et`)).toEqual([{ orderId: 'Et', alert: 'exitLost' }])
    expect(alertsOf(`${bracket}; fill E 5; reject El`)).toEqual([{ orderId: 'El', alert: 'exitLost' }])
  })
})
