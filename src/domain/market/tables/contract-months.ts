/**
 * Delivery months in which the exchanges list a future, as month letters, by the contract specifications of CME,
 * CBOT and Eurex. A root that is missing is listed for every month, at least among its nearest contracts, as
 * energy, metals, currencies and volatility are.
 */
const roots: Readonly<Record<string, string>> = {
  HMUZ: `ES MES NQ MNQ RTY M2K RS1 YM MYM EMD NIY NKD ZT ZF ZN TN ZB UB FDAX FDXM FDXS FESX FSMX FTDX`,
  HKNUZ: 'ZC ZW KE ZO',
  FHKNQUX: 'ZS',
  FHKNQUVZ: 'ZM ZL',
  FHKNUX: 'ZR',
  GJMQVZ: 'LE',
  GJKMNQVZ: 'HE',
  FHJKQUVX: 'GF',
}

export const contractMonths: ReadonlyMap<string, string> = new Map(
  Object.entries(roots).flatMap(([months, list]) => list.split(' ').map((root) => [root, months] as const)),
)
