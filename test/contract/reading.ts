/** Reading requests in tests: what came out, or which faults. */
import {
  compileRow,
  type Dialect,
  type HostName,
  type OperationName,
  rows,
} from '../../src/contract/index.ts'

export const reader = (operation: OperationName, dialect: Dialect = 'native', host: HostName = 'Gen') =>
  compileRow(rows[operation], host, dialect).readInput

/** What was read, or the faults as `code path`. */
export function read(operation: OperationName, raw: unknown, dialect?: Dialect, host?: HostName): unknown {
  const input = reader(operation, dialect, host)(raw)
  return 'params' in input
    ? input.params
    : input.faults.map(({ ErrorCode, FieldName }) => `${ErrorCode} ${FieldName}`)
}

export const query = (text: string): ReadonlyMap<string, readonly string[]> => {
  const map = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) map.set(name, [...(map.get(name) ?? []), value])
  return map
}

/** Orders to change one thing of. */
export const apple = { FullSymbol: 'AAPL', SymbolType: 'stock' }
export const market = {
  StrategyId: 7,
  OrderType: '1',
  Side: '1',
  OrderQuantity: 100,
  TIF: '0',
  PlatformSymbol: apple,
}
export const limit = { ...market, OrderType: '2', Limit: 182.5 }
export const stop = { ...market, OrderType: '3', Stop: 180 }
export const order = (changes: object, base: object = market) => ({ Order: { ...base, ...changes } })
