import type { Dialect, Field } from './schema.ts'

const ofEachGroup = (name: string, note: string): Record<string, string> =>
  Object.fromEntries(
    [
      'StocksUSA',
      'StocksEurope',
      'OptionsUSA',
      'OptionsEurope',
      'FuturesUSA',
      'FuturesEurope',
      'FuturesAsia',
      'Forex',
    ].map((group) => [`${name}${group}`, note]),
  )

/** What the names of the interface mean, once for all operations; the documents and the reference show it. */
export const fieldNotes: Readonly<Record<string, string>> = {
  Account: 'Brokerage account number.',
  AccountPassword: 'Brokerage password. Write-only: stored encrypted, never shown.',
  AccountQuantity: 'Signed quantity in the account.',
  AccountType: '0 live, 1 paper, 2 simulated.',
  AccountUserName: 'Brokerage username; needed for specific brokers only.',
  Action: 'Add or Remove.',
  ActiveOnly: 'Leaves out what has ended.',
  Alpha: 'A year, as a fraction: 0.05 is 5 percent.',
  AscendingOrder: 'true: oldest first; false: newest first.',
  AutoStopLoss:
    'Loss at which an extra automatic stop ends a position, beside the stops of the strategy, in whole units of the currency of the account. 0 or absent: none.',
  AvgFillPrice: '0 while nothing is filled.',
  AvgLossDollars: 'As a positive number.',
  AvgPx: 'Average price. Of an order the same as AvgFillPrice.',
  AvgTradeDuration: 'In days.',
  BrokerId: 'Id of a broker of GetBrokers.',
  CancelReplaceSignalId: 'The signal that this order replaces.',
  CloseSide: '1 buy, 2 sell.',
  ClosingOrdersOnly: 'Nothing is opened any more.',
  CommissionPlan: '0 default, 1 C2Europe, 3 IB, 4 Tradovate, 5 StoneX.',
  CountryCode: 'ISO 3166-2 country code.',
  CreatedBeforeDate: 'Strategies created before this date.',
  Cursor: 'next_cursor or prev_cursor of an answer, decoded. Valid for one hour.',
  DaysBack: 'Used without FromWhen.',
  DivisionCode: 'ISO 3166-2 subdivision code.',
  DoNotCreateOCAGroup: 'Keeps ProfitTarget and StopLoss independent of each other.',
  DoNotJoinCurrentSystemPositions: 'true: positions the strategy holds now are not joined. New setups only.',
  DoNotSyncToOpen: 'Not opened later in accounts where it is missing. Opening limit and stop orders only.',
  EndDate: 'As a parameter inclusive: a date alone covers the whole day.',
  EquityWithCosts: 'After commissions and the cost of the subscription.',
  ExchangeSymbol: 'The instrument as the exchange names it.',
  ExitSignalsOCAGroupId: 'Set when both exits exist and cancel each other.',
  ForexLotSize: 'Quantities are multiples of it. Absent: of 1.',
  FromWhen: 'Unix seconds.',
  FullSymbol: 'AAPL, @ESM26, EURUSD, MSFT1220J30.5.',
  GeoSite: 'Id of a GeoSite.',
  IgnoreManualOrders: "Trades of the holder's own do not switch AutoSync off.",
  IncludeDisabled: 'Also lists brokers that are switched off.',
  IncludeIconInResponse: 'Adds the Icon member.',
  IPAddress: "The person's address. Mandatory with WhiteLabelSiteId, otherwise ignored.",
  IsAutoSyncEnabled: 'Switches AutoSync.',
  IsAutotradeDisabled: 'Autotrade is switched off in the account.',
  IsAutotradeDisabledReason: 'Why Autotrade is off.',
  IsAutotradeEnabled: 'Switches Autotrade.',
  IsBrokerEnabled: 'Autotrade may use the broker.',
  IsConfirmationNeeded: 'Orders wait until the holder has confirmed them, at most ten minutes.',
  IsManualDiscardedPosition:
    "An order of the holder's own closed a position, which is not opened again until the strategy is flat in it.",
  IsResale: '1 bought through a site with a markup, otherwise 0.',
  IsSyncEnabled: 'AutoSync is on in the account.',
  Language: 'ISO 639-3 code.',
  ...ofEachGroup('LastSync', 'When AutoSync was last through.'),
  LeavePositionsOpen: 'true: positions stay and are detached; false: they are closed.',
  Limit: 'Price of a limit order (OrderType 2).',
  MaturityMonthYear: 'YYYYMM or YYYYMMDD; options with the day. The day of a future is its last of trading.',
  MaxAccountDays: 'Oldest start in days; at most 365. Absent: 365, and no limit with ActiveOnly false.',
  MaxDrawdown: 'Of a strategy in percent, as a positive number; of a trade in dollars, below 0.',
  MaxDrawdownDays: 'From the peak to the valley.',
  MaxDrawdownEndDate: 'YYYYMMDD: the first day of the valley.',
  MaxDrawdownStartDate: 'YYYYMMDD: the last day of the peak.',
  MaxForex: 'Most units in a position; one unit is 1000 of the base currency.',
  MaxFutures: 'Most contracts in a position. Absent: no limit.',
  MaxOptions: 'Most contracts in a position. Absent: no limit.',
  MaxStocksDollars:
    'Most dollars in a position; of a stock in another currency, as many of that one. Absent: no limit.',
  MinForex: 'Fewest units in a position; a smaller one is raised to it.',
  MinFutures: 'Fewest contracts in a position; a smaller one is raised to it.',
  MinOptions: 'Fewest contracts in a position; a smaller one is raised to it.',
  ModificationAction: 'ADD or DELETE.',
  ModificationSource: 'LIST or MEMBER.',
  Month: '1 to 12; 0 is the row of a whole year.',
  OpenClose: 'O open, C close. Derived from the position when absent, checked when sent.',
  OpenSide: '1 buy, 2 sell.',
  OrderId: 'Names an order of an account for cancel and replace.',
  OrderQuantity: 'Shares, contracts or forex units; above 0. Of a replacement the total of the chain.',
  OrderStatus:
    'A pending new, 0 working, 1 partially filled, 2 filled, 4 canceled, 5 replaced, 6 pending cancel, 8 rejected, C expired, E pending replace.',
  OrderType: '1 market, 2 limit, 3 stop.',
  ParentSignalId: 'The order starts to work when this signal has filled, and dies with it.',
  ParkedUntilDate: 'The order is held until this instant; without offset UTC. A past one holds nothing.',
  PercentWinTrades: 'NumWinners of NumTrades, in percent.',
  PersonId: 'Id of a person.',
  Phone: 'Full international format with a plus sign.',
  PlatformSymbol: 'The instrument as the platform names it.',
  Positions: 'The positions that must exist; all others are closed.',
  PriceMultiplier: 'Factor of quoted prices.',
  ProfitTarget: 'Price of a limit exit, created with the entry.',
  PutOrCall: 'put or call; in ExchangeSymbol 0 put, 1 call.',
  Quantity: 'Signed: above 0 long, below 0 short.',
  RejectMessage: 'Why the order has status 8.',
  RequestId: 'Id of an approval request, from the headers of StartAutotrade.',
  Return: 'In percent.',
  ReturnLabel: 'Whether Return is of the whole time or compounded to a year.',
  ReturnVsSP500: 'In percent, since the start of the strategy.',
  ScalingFactor: 'In percent.',
  ScalingPercentage: '100 copies the quantities of the strategy; 1 to 1000.',
  SecurityExchange: 'ISO 10383 market code; in a request DEFAULT stands for any.',
  SecurityType: 'CS stocks, FUT futures, OPT options, FOR forex.',
  Session: 'RTH regular hours, ETH extended hours.',
  Side: '1 buy, 2 sell.',
  SignalId: 'Id of an order of a strategy; of one that the platform adds to an account, a number of its own.',
  SignalType: '1 strategy, 4 manual, 5 strategy with manual override, 6 automatic stop loss.',
  SP500Return: 'In percent, since the start of the strategy.',
  StartDate: 'As a parameter inclusive: a date, or a date-time; without offset UTC.',
  StartingCapital: 'Dollars the strategy starts with.',
  Stop: 'Price of a stop order (OrderType 3).',
  StopLoss: 'Price of a stop exit, created with the entry.',
  StrategyId: 'Id of a strategy.',
  StrategyIds: 'Ids of strategies; in a query repeated or separated by commas.',
  SumDollarLosers: 'As a positive number.',
  SymbolType: 'stock, option, future or forex.',
  SyncDisabledReason: 'Why AutoSync is off.',
  SystemId: 'Id of a strategy.',
  TerminateStrategySubscription: 'Also ends the subscription at the end of its term.',
  TIF: '0 day, 1 good till canceled.',
  TodayReturn: 'In percent, since the last close.',
  TotalDelta: 'EndEquity less StartEquity.',
  TotalReturn: 'In percent, since StartDate.',
  ToWhen: 'Unix seconds.',
  TradeOwnSystemPercent: 'The ScalingPercentage at which its owner autotrades it in a live account.',
  UserToken: 'Secret of a person at a site, issued by the platform.',
  VirtualLimitOrdersEnabled: 'Limits are kept by the platform and not at the broker.',
  WhiteLabelSiteId: 'Id of a WhiteLabel site. Naming another site than the own takes a platform admin.',
  ...ofEachGroup('WillSyncToOpen', 'AutoSync may open what is missing, until it has once been through.'),
  WinMonthsInUI: 'Months whose return, to a tenth of a percent, is above 0.',
  WinMonthsRatio: 'WinMonths of NumMonths, as a fraction.',
}

/** What a request in compat means by names that mean something else there. */
const compatNotes: Readonly<Record<string, string>> = {
  ParkedUntilDate:
    'The order is held until this instant; without offset in New York time. A past one holds nothing.',
  Quantity: 'Signed: above 0 long, below 0 short; 0 is no position.',
}

/** Whether a field is sent or answered, and in which dialect. */
interface Place {
  readonly side: 'request' | 'answer'
  readonly dialect: Dialect
}

/** What a field means where it stands: some names mean more, or something else, in one place than in another. */
export function noteOf(
  name: string,
  { shape, presence }: Field,
  { side, dialect }: Place,
): string | undefined {
  if (name === 'Limit' && shape.kind === 'integer') return 'Most results per call.'
  if (name === 'PersonId' && side === 'request' && presence !== 'always')
    return `${fieldNotes.PersonId} Absent: the caller, or whom a UserToken names; of a search, a withdrawal, a simulation or an export everybody.`
  const asCompatReads = side === 'request' && dialect === 'compat' ? compatNotes[name] : undefined
  return asCompatReads ?? fieldNotes[name]
}
