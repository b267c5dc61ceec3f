/**
 * A stand-in for Stripe: customers, payment methods and payment intents with a state of their own, behind the HTTP
 * that the official client speaks. Idempotency keys answer again what they answered, and refuse another request. It
 * can be told to decline, to take its time, to drop the connection after it has done the work, and to forget its keys,
 * as the real one does after a day.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Intent {
  readonly id: string
  readonly object: 'payment_intent'
  readonly amount: number
  readonly currency: string
  readonly customer: string
  readonly metadata: Record<string, string>
  status: 'succeeded' | 'processing' | 'requires_payment_method' | 'requires_confirmation' | 'requires_action'
  last_payment_error: { code: string; decline_code: string } | null
}

interface Customer {
  readonly id: string
  readonly object: 'customer'
  deleted?: true
}

interface Said {
  readonly status: number
  readonly body: object
}

export interface StripeStandIn {
  readonly url: string
  /** Who was deleted is still told of, and nothing is done with him any more. */
  readonly customers: Map<string, Customer>
  /** Every intent that was ever made. */
  readonly intents: Map<string, Intent>
  /** What happens to the next intents, and looks at methods, one by one. */
  readonly script: ('drop' | 'fail' | 'delay' | 'bar')[]
  /** Requests that arrived, method and path. */
  readonly heard: string[]
  /** Begins anew, knowing nobody. */
  forget(): void
  forgetKeys(): void
  close(): Promise<void>
}

const isYes = (form: URLSearchParams, name: string): boolean => form.get(name) === 'true'

/** A method of this name declines. */
export const decliningMethod = 'pm_declines'
/** A method of this name was taken from its customer: no payment is made with it. */
export const detachedMethod = 'pm_detached'

const smallestAmount = 50

/** Requests that make no payment at all; of the detached method Stripe's error has no code. */
function refusalOf(form: URLSearchParams): object | undefined {
  if (form.get('payment_method') === detachedMethod)
    return { message: 'The provided PaymentMethod was detached from a Customer. It may not be used again.' }
  return Number(form.get('amount')) < smallestAmount ? { code: 'amount_too_small' } : undefined
}

export async function startStripeStandIn(): Promise<StripeStandIn> {
  const intents = new Map<string, Intent>()
  const customers = new Map<string, Customer>()
  const holders = new Map<string, string>()
  const answered = new Map<string, { request: string; said: Said }>()
  const script: StripeStandIn['script'] = []
  const heard: string[] = []
  let made = 0
  const nextId = (prefix: string): string => {
    made += 1
    return `${prefix}_${made}`
  }

  const declined = (intent: Intent): Said => {
    const error = { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' }
    intent.status = 'requires_payment_method'
    intent.last_payment_error = error
    return {
      status: 402,
      body: { error: { ...error, message: 'Your card was declined.', payment_intent: intent } },
    }
  }

  const isCustomer = (id: string): boolean => customers.has(id) && !customers.get(id)?.deleted
  const noCustomer: Said = {
    status: 400,
    body: {
      error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such customer' },
    },
  }

  /** A method is of one customer, for ever. */
  const attach = (method: string, customer: string): Said => {
    if (!isCustomer(customer)) return noCustomer
    const holder = holders.get(method) ?? customer
    holders.set(method, holder)
    const message = 'The payment method you provided has already been attached to a customer.'
    return holder === customer
      ? { status: 200, body: { id: method, object: 'payment_method', customer } }
      : { status: 400, body: { error: { type: 'invalid_request_error', message } } }
  }

  const pay = (form: URLSearchParams, mood: string | undefined): Said => {
    const metadata = Object.fromEntries(
      [...form].flatMap(([name, value]) => {
        const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? []
        return key === undefined ? [] : [[key, value]]
      }),
    )
    const customer = form.get('customer') ?? ''
    if (!isCustomer(customer)) return noCustomer
    const refusal = refusalOf(form)
    if (refusal) return { status: 400, body: { error: { type: 'invalid_request_error', ...refusal } } }
    const intent: Intent = {
      id: nextId('pi'),
      object: 'payment_intent',
      customer,
      metadata,
      last_payment_error: null,
      amount: Number(form.get('amount')),
      currency: form.get('currency') ?? '',
      // Nobody sits before a screen: unless told so, the bank asks for the customer, who never comes.
      status: !isYes(form, 'confirm')
        ? 'requires_confirmation'
        : !isYes(form, 'off_session')
          ? 'requires_action'
          : mood === 'delay'
            ? 'processing'
            : 'succeeded',
    }
    intents.set(intent.id, intent)
    return form.get('payment_method') === decliningMethod ? declined(intent) : { status: 200, body: intent }
  }

  const search = (query: string): Said => {
    const wanted = [...query.matchAll(/metadata\['(\w+)'\]:'([^']*)'/g)]
    const data = [...intents.values()].filter(({ metadata }) =>
      wanted.every(([, key = '', value]) => metadata[key] === value),
    )
    return {
      status: 200,
      body: { object: 'search_result', url: '/v1/payment_intents/search', has_more: false, data },
    }
  }

  const decide = (method: string, path: string, form: URLSearchParams, mood: string | undefined): Said => {
    if (method === 'POST' && path === '/v1/customers') {
      const customer: Customer = { id: nextId('cus'), object: 'customer' }
      customers.set(customer.id, customer)
      return { status: 200, body: customer }
    }
    if (method === 'POST' && /^\/v1\/payment_methods\/\w+\/attach$/.test(path))
      return attach(path.split('/')[3] ?? '', form.get('customer') ?? '')
    if (method === 'POST' && path === '/v1/payment_intents') return pay(form, mood)
    const { pathname, searchParams } = new URL(path, 'http://stripe')
    if (pathname === '/v1/payment_intents/search') return search(searchParams.get('query') ?? '')
    if (pathname.startsWith('/v1/payment_methods/')) {
      const id = pathname.split('/')[3] ?? ''
      const holder = id === detachedMethod ? null : (holders.get(id) ?? null)
      return { status: 200, body: { id, object: 'payment_method', customer: holder } }
    }
    const customer = customers.get(pathname.split('/')[3] ?? '')
    if (customer && pathname.startsWith('/v1/customers/')) return { status: 200, body: customer }
    const intent = intents.get(path.split('/')[3] ?? '')
    return intent
      ? { status: 200, body: intent }
      : { status: 404, body: { error: { type: 'invalid_request_error', code: 'resource_missing' } } }
  }

  const answer = (request: IncomingMessage, text: string): Said | 'drop' => {
    const { method = '', url = '' } = request
    heard.push(`${method} ${url}`)
    const key = request.headers['idempotency-key'] as string | undefined
    const isScripted = url === '/v1/payment_intents' || /^GET .v1.payment_methods/.test(`${method} ${url}`)
    const mood = isScripted ? script.shift() : undefined
    const known = key === undefined ? undefined : answered.get(key)
    if (known) {
      if (known.request === text) return mood === 'drop' ? 'drop' : known.said
      const error = {
        type: 'idempotency_error',
        message: 'Keys for idempotent requests can only be used once',
      }
      return { status: 400, body: { error } }
    }
    if (mood === 'bar') {
      const message = 'Your account cannot currently make live charges.'
      return { status: 400, body: { error: { type: 'invalid_request_error', message } } }
    }
    if (mood === 'fail') return { status: 500, body: { error: { type: 'api_error', message: 'try again' } } }
    const said = decide(method, url, new URLSearchParams(text), mood)
    if (key !== undefined) answered.set(key, { request: text, said })
    return mood === 'drop' ? 'drop' : said
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const said = answer(request, Buffer.concat(chunks).toString())
      if (said === 'drop') request.socket.destroy()
      else
        response
          .writeHead(said.status, { 'content-type': 'application/json', 'request-id': nextId('req') })
          .end(JSON.stringify(said.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    customers,
    intents,
    script,
    heard,
    forget: () => {
      for (const memory of [intents, customers, holders, answered]) memory.clear()
      heard.length = 0
      script.length = 0
    },
    forgetKeys: () => answered.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
