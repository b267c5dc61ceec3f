/** `npm run bench [-- NAME]`: runs one benchmark or all, prints tables, keeps bench/results/NAME.json. */
import { bench as close } from './close.ts'
import { bench as fanout } from './fanout.ts'
import { bench as http } from './http.ts'
import { bench as lists } from './lists.ts'
import { bench as matcher } from './matcher.ts'
import { bench as mirror } from './mirror.ts'
import { bench as place } from './place.ts'
import { bench as replay } from './replay.ts'
import { bench as statistics } from './statistics.ts'
import { publish } from './support/report.ts'
import { bench as sync } from './sync.ts'

const benches = [place, fanout, matcher, replay, http, lists, statistics, close, sync, mirror]
const wanted = process.argv[2]
const chosen = benches.filter(({ name }) => wanted === undefined || name === wanted)
if (chosen.length === 0) {
  console.error(`no benchmark named ${wanted}; there are ${benches.map(({ name }) => name).join(', ')}`)
  process.exit(1)
}
for (const { name, run } of chosen) publish(name, await run())
