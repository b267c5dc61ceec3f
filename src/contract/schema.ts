/**
 * The field types of the interface, as inert data. A field says what it is once; the reader of requests, the
 * writer of answers, the OpenAPI documents, the reference pages and the static types are all derived from it.
 *
 * A field has four faces: what a handler reads, what a handler writes, what a client sends, what it receives.
 */

export type HostName = 'Gen' | 'Geo' | 'WL'
export type Dialect = 'native' | 'compat'
/** Whom a contract is projected for. */
export interface Audience {
  readonly host: HostName
  readonly dialect: Dialect
}
export const hostNames: readonly HostName[] = ['Gen', 'Geo', 'WL']

/** always there; maybe (a `?` of the documents); defaulted when not sent; hosted: on some hosts only. */
export type Presence = 'always' | 'maybe' | 'defaulted' | 'hosted'

/** Exact 64-bit integer: a JS number while that is exact, a bigint beyond 2^53. */
type Integer = number | bigint
/** What prints as an exact JSON number: decimals by `toFixed()`, numeric text as PostgreSQL gives it. */
export type Numeric = number | bigint | string | { toFixed(): string }
/** An instant as a handler may write it: epoch milliseconds, a Date, or ISO text. */
export type Moment = number | Date | string

export type Shape =
  /** `max` refuses; `clamp` lowers what is above it. Without bounds: the whole range of the width. */
  | { kind: 'integer'; bits: 32 | 64; min?: number; max?: number; clamp?: number }
  /**
   * Read: at most 12 digits before and 8 after the point, so that every accepted value is exact in the tables.
   * Written: rounded half away from zero to `places`, where they are stated.
   */
  | { kind: 'number'; sign?: 'positive' | 'nonzero'; places?: 2 | 8 }
  /** `isCode`: digits, which the compat dialect takes as a number like every code. */
  | { kind: 'text'; maxLength?: number; pattern?: RegExp; example?: string; isCode?: boolean }
  | { kind: 'boolean' }
  /** `end`: a date alone means its last millisecond, a whole second its last. `local`: New York time in compat. */
  | { kind: 'instant'; edge?: 'end' | 'local' }
  | { kind: 'code'; values: readonly string[] }
  | { kind: 'array'; items: Field; min?: number; max?: number; unique?: boolean }
  | { kind: 'object'; members: Members }
  /** A signal in an answer: its id alone on version 1 of a route, the whole row on version 2. */
  | { kind: 'signal'; row: Field }

type View = 'read' | 'written' | 'sent' | 'received'

export interface Field<
  Read = unknown,
  Written = unknown,
  Sent = unknown,
  Received = unknown,
  P extends Presence = Presence,
> {
  readonly shape: Shape
  readonly presence: P
  /** null in a native body means absent. */
  readonly nullable?: boolean
  readonly default?: boolean | number | string
  /** The hosts that know the member; absent means all. */
  readonly hosts?: readonly HostName[]
  /** Shown to the person (and entitled admins) only; the handler leaves it out for others. */
  readonly personal?: boolean
  /** In compat 0 means absent: programs whose numbers are never empty send it for what they leave out. */
  readonly zeroIsNone?: boolean
  /** Write-only: in no log, answer or export. */
  readonly secret?: boolean
  /** Accepted from callers who echo an answer, and not read. */
  readonly ignored?: boolean
  /** The member's name in the compat dialect. */
  readonly compatName?: string
  /** Known in the compat dialect only. */
  readonly compatOnly?: boolean
  /** Shown from this version of a route on. */
  readonly version?: 2
  /** Types only; never set. */
  readonly views?: { read: Read; written: Written; sent: Sent; received: Received }
}

export type Members = { readonly [name: string]: Field }

type ViewOf<F extends Field, V extends View> = NonNullable<F['views']>[V]
type Absentable = {
  read: 'maybe' | 'hosted'
  written: 'maybe'
  sent: 'maybe' | 'defaulted' | 'hosted'
  received: 'maybe' | 'hosted'
}
type Nothing = { read: never; written: null | undefined; sent: undefined; received: never }

/** The static type of an object in one view. */
export type ObjectOf<M extends Members, V extends View> = {
  readonly [K in keyof M as M[K]['presence'] extends Absentable[V] ? never : K]: ViewOf<M[K], V>
} & {
  readonly [K in keyof M as M[K]['presence'] extends Absentable[V] ? K : never]?: ViewOf<M[K], V> | Nothing[V]
}

export type ReadOf<F extends Field> = ViewOf<F, 'read'>
export type WrittenOf<F extends Field> = ViewOf<F, 'written'>
export type ReceivedOf<F extends Field> = ViewOf<F, 'received'>

type Bounds = { min?: number; max?: number; clamp?: number }
type IntegerField = Field<Integer, Integer | string, Integer, number, 'always'>
type NumberField = Field<number, Numeric, number, number, 'always'>
type TextField = Field<string, string, string, string, 'always'>
type InstantField = Field<number, Moment, string, string, 'always'>

/** Exact integer of 64 bits. */
export const i64 = (bounds: Bounds = {}): IntegerField => ({
  shape: { kind: 'integer', bits: 64, ...bounds },
  presence: 'always',
})
/** Integer of 32 bits. */
export const i32 = (bounds: Bounds = {}): Field<number, number, number, number, 'always'> => ({
  shape: { kind: 'integer', bits: 32, ...bounds },
  presence: 'always',
})
export const I64 = i64()
export const I32 = i32()
const numberField = (shape: Omit<Extract<Shape, { kind: 'number' }>, 'kind'>): NumberField => ({
  shape: { kind: 'number', ...shape },
  presence: 'always',
})
/** A ratio, a percentage, a number of days: printed as it is. */
export const Num = numberField({})
/** Prices, averages and quantities: up to 8 decimals. */
export const Price = numberField({ places: 8 })
export const Quantity = numberField({ places: 8 })
/** Money: whole cents. */
export const Money = numberField({ places: 2 })
/** What a request may ask for: above zero, or other than zero. */
export const PositiveNum = numberField({ sign: 'positive', places: 8 })
export const NonzeroNum = numberField({ sign: 'nonzero', places: 8 })
export const Bool: Field<boolean, boolean, boolean, boolean, 'always'> = {
  shape: { kind: 'boolean' },
  presence: 'always',
}

/** Text of at most `maxLength` code points; a pattern must run in linear time. */
export const text = (maxLength: number, pattern?: RegExp, example?: string): TextField => ({
  shape: {
    kind: 'text',
    maxLength,
    ...(pattern === undefined ? {} : { pattern }),
    ...(example === undefined ? {} : { example }),
  },
  presence: 'always',
})
/** A name, an address, a filter: short enough for every index. */
export const Str = text(256)
/** A code of an open set, such as a month of expiry. */
export const OpenCode: TextField = {
  shape: { kind: 'text', maxLength: 256, isCode: true },
  presence: 'always',
}
/** Text bounded only by the size of the body. */
export const LongStr: TextField = { shape: { kind: 'text' }, presence: 'always' }

/** A date or a date-time, read as epoch milliseconds, without offset as UTC. Written as UTC in whole seconds. */
export const Dt: InstantField = { shape: { kind: 'instant' }, presence: 'always' }
/** As `Dt`, for the inclusive end of a range. */
export const EndDt: InstantField = { shape: { kind: 'instant', edge: 'end' }, presence: 'always' }
/** As `Dt`; without offset it is New York time in the compat dialect. */
export const LocalDt: InstantField = { shape: { kind: 'instant', edge: 'local' }, presence: 'always' }

/** One of a closed set of codes. */
export const code = <const T extends string>(...values: readonly T[]): Field<T, T, T, T, 'always'> => ({
  shape: { kind: 'code', values },
  presence: 'always',
})

/** A list of `items`; the limits count them. */
export const array = <R, W, S, G>(
  items: Field<R, W, S, G>,
  limits: { min?: number; max?: number; unique?: boolean } = {},
): Field<readonly R[], readonly W[], readonly S[], readonly G[], 'always'> => ({
  shape: { kind: 'array', items, ...limits },
  presence: 'always',
})

export type ObjectField<M extends Members> = Field<
  ObjectOf<M, 'read'>,
  ObjectOf<M, 'written'>,
  ObjectOf<M, 'sent'>,
  ObjectOf<M, 'received'>,
  'always'
> & { readonly shape: { kind: 'object'; members: M } }

/** An object of these members and no others. */
export const object = <M extends Members>(members: M): ObjectField<M> => ({
  shape: { kind: 'object', members },
  presence: 'always',
})

/** A signal that version 1 of a route shows as its id and version 2 as a row; a handler writes the row. */
export const signal = <R, W, S, G>(row: Field<R, W, S, G>): Field<R, W, S, G | number, 'always'> => ({
  shape: { kind: 'signal', row },
  presence: 'always',
})

/** May be absent; null is refused in a native body. */
export const optional = <R, W, S, G>(field: Field<R, W, S, G>): Field<R, W, S, G, 'maybe'> => ({
  ...field,
  presence: 'maybe',
})
/** May be absent; null means absent. */
export const maybe = <R, W, S, G>(field: Field<R, W, S, G>): Field<R, W, S, G, 'maybe'> => ({
  ...field,
  presence: 'maybe',
  nullable: true,
})
/** Read as `value` when not sent; null is refused in a native body. */
export const withDefault = <R, W, S, G>(
  field: Field<R, W, S, G>,
  value: Extract<R, boolean | number | string>,
): Field<R, W, S, G, 'defaulted'> => ({ ...field, presence: 'defaulted', default: value })

/** Known on these hosts only; elsewhere an unknown name, and left out of answers. */
export const on = <R, W, S, G, P extends Presence>(
  hosts: readonly HostName[],
  field: Field<R, W, S, G, P>,
): Field<R, W, S, G, P extends 'always' ? 'hosted' : P> => ({
  ...field,
  hosts,
  presence: (field.presence === 'always' ? 'hosted' : field.presence) as P extends 'always' ? 'hosted' : P,
})

/** A private member of a person: left out of a public view. */
export const personal = <R, W, S, G>(field: Field<R, W, S, G>): Field<R, W, S, G, 'maybe'> => ({
  ...field,
  presence: 'maybe',
  personal: true,
})

/** The same field, never to be logged or told again. */
export const secret = <F extends Field>(field: F): F => ({ ...field, secret: true })
/** A member of answers that callers may echo in a request; it is checked for nothing and not read. */
export const echoed = <R, W, S, G>(field: Field<R, W, S, G>): Field<never, W, S, G, 'maybe'> => ({
  ...(field as unknown as Field<never, W, S, G>),
  presence: 'maybe',
  ignored: true,
})
/** The member's other name in the compat dialect. */
export const inCompat = <F extends Field>(compatName: string, field: F): F => ({ ...field, compatName })

/** A member that is never 0: in the compat dialect 0 means that it is absent. */
export const zeroIsNone = <F extends Field>(field: F): F => ({ ...field, zeroIsNone: true })

/** A member that the compat dialect alone knows. */
export const onlyInCompat = <F extends Field>(field: F): F => ({ ...field, compatOnly: true })
/** A member that version 2 of a route alone shows. */
export const sinceVersion2 = <R, W, S, G>(field: Field<R, W, S, G>): Field<R, W, S, G, 'maybe'> => ({
  ...field,
  presence: 'maybe',
  version: 2,
})

/** Whether an audience knows a member. */
export const isKnownTo = (field: Field, { host, dialect }: Audience): boolean =>
  (field.hosts?.includes(host) ?? true) && !(field.compatOnly && dialect === 'native')
/** A member's name in a dialect. */
export const nameIn = (dialect: Dialect, name: string, field: Field): string =>
  dialect === 'compat' ? (field.compatName ?? name) : name

/** The public part of an object: what stays when its private members are left out. */
export function publicView<M extends Members>(
  of: ObjectField<M>,
  value: ObjectOf<M, 'written'>,
): ObjectOf<M, 'written'> {
  const shown = Object.entries(value).filter(([name]) => of.shape.members[name]?.personal !== true)
  return Object.fromEntries(shown) as ObjectOf<M, 'written'>
}
