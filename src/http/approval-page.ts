/**
 * The page on which a customer reads what is asked of him and says yes or no. Finished HTML without a script;
 * whatever people have named things is text and nothing else.
 */
import { escaped, readableInstant } from '../contract/index.ts'
import { type ApprovalView, costsOf } from '../operations/approvals.ts'

const style = `
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 36rem; margin: 3rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h1, p { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: 1.5rem 0; }
dt { opacity: .7; }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
form { display: flex; gap: .75rem; flex-wrap: wrap; }
button { font: inherit; font-weight: 600; padding: .6rem 1.4rem; border-radius: .5rem; border: 1px solid; cursor: pointer; }
button[value=approve] { background: #14532d; border-color: #14532d; color: #fff; }
button[value=decline] { background: transparent; color: inherit; }
button:focus-visible { outline: 3px solid #2563eb; outline-offset: 2px; }
@media (max-width: 34rem) {
  main { margin: 1.5rem auto; }
  dl { display: block; }
  dd { margin-bottom: .6rem; }
}
`

/** Isolates (Unicode's bidi algorithm): one of a name's own would end that in which the name stands, or outlast it. */
const isolates = /[\u2066-\u2069]/g

/** What people have named things, as text; a name that is written from right to left turns nothing around it. */
const named = (text: string): string => `<bdi>${escaped(text.replace(isolates, ''))}</bdi>`

const page = (title: string, body: string, heading = escaped(title)): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escaped(title)}</title><style>${style}</style></head>
<body><main><h1>${heading}</h1>
${body}
</main></body></html>
`

/** No request has this address. */
export const missingPage = (): string =>
  page('There is nothing to approve here', '<p>The address is not complete, or it was never given out.</p>')

/** The platform cannot be asked now. */
export const laterPage = (): string =>
  page('Please try again later', '<p>Nothing has been changed. The address stays good.</p>')

/** Something failed on the way: nobody can say whether an answer was taken. */
export const failedPage = (): string =>
  page(
    'Please try again later',
    '<p>Something went wrong. The address stays good: open it again, and it says how things stand.</p>',
  )

/** The request as it stands; `isAnswered`: it was approved just now, and is open still only if it costs something else. */
export function approvalPage(view: ApprovalView, isAnswered = false): string {
  const facts = factsOf(view)
    .map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`)
    .join('\n')
  const list = `<dl>\n${facts}\n</dl>`
  if (view.status !== 'PendingCustomer') {
    const { title, says } = outcomes[view.status]
    const words = heldBack(view) ?? (opensNothing(view) ? outcomesOfNothing[view.status] : undefined)
    const why =
      view.status === 'Failed' && view.failure !== null ? `<p>Reason: ${escaped(view.failure)}</p>` : ''
    return page(title, `<p>${words ?? says}</p>\n${why}${list}`)
  }
  const { firstName, siteName, strategyName } = view
  return page(
    `Approve ${strategyName}?`,
    `${isAnswered ? '<p role="alert">What it costs has changed meanwhile. Please read it once more.</p>' : ''}
<p>${named(firstName)}, ${named(siteName)} asks you to ${wishOf(view)}
${consequenceOf(view)}</p>
${list}
<form method="post">
<input type="hidden" name="costs" value="${escaped(costsOf(view))}">
<button name="answer" value="approve">Approve</button>
<button name="answer" value="decline">Decline</button>
</form>
<p>The request ends on ${escaped(readableInstant(view.expiresAt))}.</p>`,
    `Approve ${named(strategyName)}?`,
  )
}

const outcomes = {
  Processing: { title: 'Approved', says: 'Trading is being switched on.' },
  PendingBroker: {
    title: 'Approved',
    says: 'The broker has to enable the account first. That usually takes five to ten business days.',
  },
  Completed: {
    title: 'Approved',
    says: 'The orders of the strategy are copied into the account from now on.',
  },
  Failed: { title: 'Nothing was switched on', says: 'The request has ended without effect.' },
  Expired: { title: 'The request has expired', says: 'Nobody answered in time. Nothing was switched on.' },
  Superseded: { title: 'The request was replaced', says: 'A newer one has taken its place.' },
} as const

/** What is said of a request that took effect where nothing is copied now; its status stays for ever. */
function heldBack({ status, isFollowing, hasLapsed }: ApprovalView): string | undefined {
  if (status !== 'Completed') return undefined
  if (!isFollowing) return 'Copying was switched on, and has been stopped since.'
  return hasLapsed
    ? 'No position is opened in the account before the subscription to the strategy is paid and runs.'
    : undefined
}

const opensNothing = ({ choices }: ApprovalView): boolean =>
  !(choices.stocksEnabled || choices.optionsEnabled || choices.futuresEnabled || choices.forexEnabled)

const allOff =
  'Stocks, options, futures and forex are all switched off: no position is opened in the account until one of them is switched on.'

/** What is asked for: a customer who follows already has settings, which a yes ends. */
const wishOf = ({ isFollowing }: ApprovalView): string =>
  isFollowing
    ? 'change how the orders of a strategy are copied into your account. What is set now ends with a yes, and AutoSync, where it is on, fits what is held to what is said here.'
    : 'let the orders of a strategy be copied into your account.'

/** What follows a yes. */
const consequenceOf = (view: ApprovalView): string =>
  opensNothing(view)
    ? `${allOff} Approving alone copies nothing.`
    : `${view.accountKind === 'live' ? 'Real orders' : 'Orders without real money'} follow without asking again, until you stop it.`

/** What an outcome says instead where nothing would be copied. */
const outcomesOfNothing: Partial<Record<ApprovalView['status'], string>> = {
  PendingBroker: `${outcomes.PendingBroker.says} ${allOff}`,
  Completed: allOff,
}

const kindWords = { live: '', paper: ', a paper account', sim: ', a simulated account' } as const

/** What the request would let happen, line by line, as HTML. */
function factsOf(view: ApprovalView): [string, string][] {
  const { choices } = view
  const facts: [string, string][] = [
    ['Strategy', named(view.strategyName)],
    ['Account', `${named(view.account)} at ${named(view.brokerName)}${kindWords[view.accountKind]}`],
    ...priceOf(view),
    ['Size', `${choices.scalingPercentage} % of the strategy’s orders`],
  ]
  const stockUnit = 'dollars in one position; of a stock in another currency, as many of that one'
  const classes: [string, boolean, number | null, string][] = [
    ['Stocks', choices.stocksEnabled, choices.maxStocksDollars, stockUnit],
    ['Options', choices.optionsEnabled, choices.maxOptions, 'contracts in one position'],
    ['Futures', choices.futuresEnabled, choices.maxFutures, 'contracts in one position'],
    ['Forex', choices.forexEnabled, choices.maxForex, 'thousands of a currency in one position'],
  ]
  for (const [name, isEnabled, most, unit] of classes) {
    const limit = most === null ? 'yes, without a limit' : `at most ${most.toLocaleString('en')} ${unit}`
    facts.push([name, isEnabled ? limit : 'no'])
  }
  if (choices.optionsEnabled) facts.push(['Short options', choices.optionsShort ? 'yes' : 'no'])
  const loss = choices.autoStopLossDollars
  if (loss > 0) {
    const amount = `${loss.toLocaleString('en')} ${view.accountCurrency}`
    facts.push(['Stop loss', `at a loss of ${amount} in one position`])
  }
  const joining = joiningOf(view)
  if (joining !== undefined) facts.push(['Positions the strategy holds now', joining])
  return facts
}

/**
 * What a yes does about what is open already: joining trades before the strategy does anything. Whoever follows already has
 * joined or not, which other settings do not change.
 */
function joiningOf(view: ApprovalView): string | undefined {
  const { joinsPositions } = view.choices
  if (view.isFollowing || joinsPositions === null) return undefined
  if (!joinsPositions) return 'are not joined'
  if (opensNothing(view)) return undefined
  return view.isSyncEnabled
    ? 'are joined at the market, at once or when it opens'
    : 'are joined at the market when AutoSync of the account is switched on'
}

/** What a yes costs; nothing where it is paid for, or free. */
function priceOf({ price, priceFrom, feePercent, laterFeePercent }: ApprovalView): [string, string][] {
  const facts: [string, string][] = []
  if (price !== null) {
    const when =
      priceFrom === null ? 'now and every 30 days' : `every 30 days from ${readableInstant(priceFrom)} on`
    facts.push(['Price', `${escaped(price)} ${when}, until the subscription is ended`])
  }
  if (feePercent > 0 || laterFeePercent > 0) {
    const later = laterFeePercent === feePercent ? '' : `, and ${laterFeePercent} % from the next term on`
    facts.push(['Fee on gains', `${feePercent} % of what the account gains with the strategy${later}`])
  }
  return facts
}
