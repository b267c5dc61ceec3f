/** The operator's tools for brokerage accounts: which may be used, and what is known of them. */
import type { Command } from 'commander'
import { changeAccount, changeSetup } from '../storage/operating/administration.ts'
import { askOperation } from './call.ts'
import { ConfigError } from './config.ts'
import {
  type Output,
  onOrOff,
  readBrokerId,
  readChanges,
  readId,
  readWhole,
  say,
  tool,
  withPlatform,
} from './tool.ts'

interface ApproveOptions extends Output {
  person: string
  broker: string
  by: string
  transmit?: boolean
  cfd?: boolean
}

interface AccountOptions extends Output {
  ignoreManualOrders?: string
  introducingBroker?: string
  introducingBrokerId?: string
  salesRep?: string
  salesRepId?: string
}

/** Adds accounts approve, withdraw, set and setup. */
export function addAccountCommands(accounts: Command): void {
  tool(accounts, 'approve <account>', 'for Autotrade')
    .requiredOption('--person <id>', 'whose it is')
    .requiredOption('--broker <id>', 'where it is')
    .requiredOption('--by <person>', 'an admin of the site of its holder, who answers for it')
    .option('--transmit', 'for broker transmit instead: its trades may feed a strategy')
    .option('--cfd', 'it trades contracts for difference')
    .action((Account: string, { person, broker, by, transmit, cfd, ...output }: ApproveOptions) =>
      withPlatform(async (db, config) => {
        const operation = transmit ? 'ApprovedBrokerTransmitAccount' : 'ApprovedAutotradeAccount'
        const holder = { PersonId: readId(person), BrokerId: readBrokerId(broker) }
        const params = { Account, ...holder, ...(cfd && { IsCFD: true }) }
        await askOperation(db, config, { operation, params, personId: readId(by) })
        say(output, { account: Account, ...holder }, `Account ${Account} is approved.`)
      }),
    )
  tool(accounts, 'withdraw <account>', 'take an approval back')
    .option('--transmit', 'that for broker transmit')
    .action((Account: string, { transmit, ...output }: Output & { transmit?: boolean }) =>
      withPlatform(async (db, config) => {
        const operation = transmit ? 'DeleteApprovedBrokerTransmitAccount' : 'DeleteApprovedAutotradeAccount'
        await askOperation(db, config, { operation, params: { Account } })
        say(output, { account: Account }, `Account ${Account} is not approved any more.`)
      }),
    )
  tool(accounts, 'set <brokerId> <account>', 'change what is given')
    .option('--ignore-manual-orders <onOrOff>', "its holder's own trades do not switch AutoSync off")
    .option('--introducing-broker <name>')
    .option('--introducing-broker-id <id>')
    .option('--sales-rep <name>')
    .option('--sales-rep-id <id>')
    .action((broker: string, account: string, options: AccountOptions) =>
      setAccount(broker, account, options),
    )
  tool(accounts, 'setup <brokerId> <account> <strategy>', 'change what is given of how it follows')
    .option('--closing-orders-only <onOrOff>', 'nothing is opened any more')
    .option('--confirmation <onOrOff>', 'its holder wants to confirm orders first')
    .option(
      '--virtual-limit-orders <onOrOff>',
      'shown in its settings; its limits rest at the broker as before',
    )
    .option('--stocks-as-cfd <onOrOff>', 'shown in its settings; stocks are ordered as before')
    .option('--min-futures <n>')
    .option('--min-options <n>')
    .option('--min-forex <n>')
    .option('--forex-lot-size <n>', '0: none')
    .action((broker: string, account: string, strategy: string, options: SetupOptions) =>
      setSetup({ brokerId: readBrokerId(broker), account, strategyId: readId(strategy) }, options),
    )
}

interface SetupOptions extends Output {
  closingOrdersOnly?: string
  confirmation?: string
  virtualLimitOrders?: string
  stocksAsCfd?: string
  minFutures?: string
  minOptions?: string
  minForex?: string
  forexLotSize?: string
}

/** A number as it is typed, if it is. */
const number = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : readWhole(name, text)

const setSetup = (
  named: { readonly brokerId: number; readonly account: string; readonly strategyId: number },
  options: SetupOptions,
): Promise<void> =>
  withPlatform(async (db) => {
    const change = readChanges({
      closingOrdersOnly: onOrOff('--closing-orders-only', options.closingOrdersOnly),
      isConfirmationNeeded: onOrOff('--confirmation', options.confirmation),
      virtualLimitOrders: onOrOff('--virtual-limit-orders', options.virtualLimitOrders),
      stocksAsCfd: onOrOff('--stocks-as-cfd', options.stocksAsCfd),
      minFutures: number('--min-futures', options.minFutures),
      minOptions: number('--min-options', options.minOptions),
      minForex: number('--min-forex', options.minForex),
      forexLotSize: number('--forex-lot-size', options.forexLotSize),
    })
    if (!(await changeSetup(db.write, { ...named, ...change }, Date.now())))
      throw new ConfigError(`account ${named.account} does not follow strategy ${named.strategyId}`)
    say(options, named, `Account ${named.account} follows strategy ${named.strategyId} as said.`)
  })

const setAccount = (broker: string, account: string, options: AccountOptions): Promise<void> =>
  withPlatform(async (db) => {
    const named = { brokerId: readBrokerId(broker), account }
    const change = readChanges({
      ignoresManualOrders: onOrOff('--ignore-manual-orders', options.ignoreManualOrders),
      introducingBroker: options.introducingBroker,
      introducingBrokerId: number('--introducing-broker-id', options.introducingBrokerId),
      salesRep: options.salesRep,
      salesRepId: number('--sales-rep-id', options.salesRepId),
    })
    if (!(await changeAccount(db.write, { ...named, ...change }, Date.now())))
      throw new ConfigError(`there is no account ${account} at broker ${broker}`)
    say(options, { account }, `Account ${account} is changed.`)
  })
