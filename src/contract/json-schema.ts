/**
 * A field as JSON Schema (2020-12), for one host in the native dialect. What a request may hold is closed and
 * states every limit the reader checks; what an answer holds stays open to additions.
 */
import { noteOf } from './notes.ts'
import { type Audience, type Field, isKnownTo, type Members, type Shape } from './schema.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

export interface SchemaView extends Audience {
  readonly side: 'request' | 'answer'
  readonly version: 1 | 2
  /** The `$ref` of an object with a name of its own. */
  refOf(shape: Shape): string | undefined
}

/** The schema of a field; `isMandatory` adds what only mandatory members promise. */
export function schemaOf(field: Field, view: SchemaView, isMandatory = false): JsonSchema {
  const { shape } = field
  const ref = view.refOf(shape)
  const own = ref === undefined ? shapeSchema(shape, view, isMandatory) : { $ref: ref }
  const isNullable = view.side === 'request' && field.nullable === true
  return {
    ...(isNullable ? { ...own, type: [own.type, 'null'], ...orNull(own) } : own),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(field.secret ? { writeOnly: true, format: 'password' } : {}),
  }
}

const orNull = ({ enum: values }: JsonSchema): JsonSchema =>
  Array.isArray(values) ? { enum: [...values, null] } : {}

/** The schema of an object's own members. */
export function objectSchema(members: Members, view: SchemaView): JsonSchema {
  const known = Object.entries(members).filter(
    ([, field]) => isKnownTo(field, view) && (field.version ?? 1) <= view.version,
  )
  const required = known.filter(([, { presence }]) => isRequired(presence, view)).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(known.map(([name, field]) => [name, memberSchema(name, field, view)])),
    ...(required.length === 0 ? {} : { required }),
    ...(view.side === 'request' ? { additionalProperties: false } : {}),
  }
}

const isRequired = (presence: Field['presence'], view: SchemaView): boolean =>
  presence === 'always' || (presence === 'hosted' && view.side === 'answer')

function memberSchema(name: string, field: Field, view: SchemaView): JsonSchema {
  if (field.ignored && view.side === 'request')
    return { description: 'May be echoed from an answer; not read.' }
  const description = noteOf(name, field, view)
  return {
    ...(description === undefined ? {} : { description }),
    ...schemaOf(field, view, field.presence === 'always'),
  }
}

function shapeSchema(shape: Shape, view: SchemaView, isMandatory: boolean): JsonSchema {
  const isRequest = view.side === 'request'
  switch (shape.kind) {
    case 'integer':
      return { type: 'integer', format: `int${shape.bits}`, ...(isRequest ? integerBounds(shape) : {}) }
    case 'number':
      return { type: 'number', ...(isRequest ? numberBounds(shape) : {}) }
    case 'boolean':
      return { type: 'boolean' }
    case 'text':
      return { type: 'string', ...(isRequest ? textBounds(shape, isMandatory) : {}) }
    case 'instant':
      return isRequest ? { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] } : dateTime
    case 'code':
      return { type: 'string', enum: shape.values }
    case 'array':
      return {
        type: 'array',
        items: schemaOf(shape.items, view),
        ...(isRequest ? arrayBounds(shape) : {}),
      }
    case 'object':
      return objectSchema(shape.members, view)
    case 'signal':
      return view.version === 2 ? schemaOf(shape.row, view) : { type: 'integer', format: 'int64' }
  }
}

const dateTime = { type: 'string', format: 'date-time' }

function integerBounds(shape: Extract<Shape, { kind: 'integer' }>): JsonSchema {
  return {
    ...(shape.min === undefined ? {} : { minimum: shape.min }),
    ...(shape.max === undefined ? {} : { maximum: shape.max }),
    ...(shape.clamp === undefined ? {} : { description: `Values above ${shape.clamp} mean ${shape.clamp}.` }),
  }
}

function numberBounds({ sign }: Extract<Shape, { kind: 'number' }>): JsonSchema {
  const least = sign === 'positive' ? { exclusiveMinimum: 0 } : { exclusiveMinimum: -1e12 }
  return { ...least, exclusiveMaximum: 1e12, ...(sign === 'nonzero' ? { not: { const: 0 } } : {}) }
}

function textBounds(shape: Extract<Shape, { kind: 'text' }>, isMandatory: boolean): JsonSchema {
  const pattern = shape.pattern?.source ?? (isMandatory ? '\\S' : undefined)
  return {
    ...(shape.maxLength === undefined ? {} : { maxLength: shape.maxLength }),
    ...(pattern === undefined ? {} : { pattern }),
  }
}

function arrayBounds(shape: Extract<Shape, { kind: 'array' }>): JsonSchema {
  return {
    ...(shape.min === undefined ? {} : { minItems: shape.min }),
    ...(shape.max === undefined ? {} : { maxItems: shape.max }),
    ...(shape.unique ? { uniqueItems: true } : {}),
  }
}
