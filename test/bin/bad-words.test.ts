/** What an operator may mistype: each is answered in words, without a trace of our insides, and leaves nothing. */
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)

beforeAll(async () => {
  const sites = ['sites', 'add', '--name', 'A site', '--kind']
  await run(...sites, 'geo', 'north')
  await run(...sites, 'whitelabel', 'west', '--region', 'north')
  await db.write.run`
    insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'live', 'scripted')`
  const person = ['people', 'add', '--first', 'Ann', '--last', 'L', '--site', 'west', '--email', 'ann@x.org']
  expect((await run(...person)).status).toBe(0)
})

const ids = async () => {
  const person = await db.read.one<{ id: number }>`select id from person where email = 'ann@x.org'`
  const broker = await db.read.one<{ id: number }>`select min(id) as id from broker`
  return { PERSON: String(person.id), BROKER: String(broker.id) }
}

const key = 'keys issue --person'
const account = 'people account PERSON'
const tooLarge = 'is a whole number from 0 to 2147483647'
const noCode = 'the code is up to 64 letters, digits, dots, hyphens and underscores, no mark at an end'

const noCurrency = '--currency is the code of a currency, in three capital letters'
const tooLong = 'has more than 256 characters'
const noChange = 'say what is to be changed; --help shows what can be'
const noPage = '--url is an address that begins with http:// or https://'

/** Long, and not to be made shorter by packing: an index has no room for it. */
const long = randomBytes(2000).toString('hex')

test.each<[string, string]>([
  [`${key} abc`, 'abc is no id'],
  [`${key} 1.5`, '1.5 is no id'],
  [`${key} PERSON --days abc`, '--days is a whole number from 1 to 36500'],
  [`${key} PERSON --days 0`, '--days is a whole number from 1 to 36500'],
  [`${key} PERSON --days=-5`, '--days is a whole number from 1 to 36500'],
  [`${key} PERSON --days 1e9`, '--days is a whole number from 1 to 36500'],
  [`${key} PERSON --limits 10`, '--limits: 10 is no limit such as 10:100'],
  [`${key} PERSON --limits 0:5`, '--limits: 0:5 is no limit such as 10:100'],
  [`${key} PERSON --limits 10:5,10:6`, '--limits: a length is named once'],
  ['export SearchStrategies --person abc', 'abc is no id'],
  ['export SearchStrategies --json', '--json needs --out: a listing is CSV'],
  ['audit log --limit abc', '--limit is a whole number from 1 to 2147483647'],
  ['audit log --limit=-1', '--limit is a whole number from 1 to 2147483647'],
  ['replay file.csv --speed abc', '--speed is a number, 0 or more'],
  ['payments attach pm_1 --person abc', 'abc is no id'],
  ['payments attach pm_1 --person 999999', 'there is no living person 999999'],
  ['payments retry 999999', 'subscription 999999 owes nothing that was declined'],
  ['payments settle 999999 --note cash', 'there is no charge 999999 (payments unpaid)'],
  ['payments settle abc --note cash', 'abc is no id'],
  ['payments waive 999999 --note goodwill', 'there is no charge 999999 (payments unpaid)'],
  ['payments settle 1 --note BLANK', '--note says nothing'],
  ['payments unpaid --person abc', 'abc is no id'],
  [`${account} U1 --broker abc`, 'abc is no id'],
  [`${account} U1 --broker 999`, 'there is no broker 999'],
  ['people delete abc', 'abc is no id'],
  ['people delete 999999', 'there is no living person 999999'],
  ['people account 999999 U1 --broker BROKER', 'there is no living person 999999'],
  [`${account} U1 --broker BROKER --cash abc`, '--cash is dollars and cents, 0 or more'],
  [`${account} U1 --broker BROKER --cash 1e400`, '--cash is dollars and cents, 0 or more'],
  [`${account} U1 --broker BROKER --currency dollars`, noCurrency],
  [`${account} U1 --broker BROKER --currency ZZZ`, noCurrency],
  [`${account} BLANK --broker BROKER`, 'the number says nothing'],
  ['people add --first BLANK --last L --email b@x.org', '--first says nothing'],
  ['people add --first LONG --last L --email b@x.org', `--first ${tooLong}`],
  ['people add --first A --last L --email LONG@x.org', `the e-mail address ${tooLong}`],
  [`${account} LONG --broker BROKER`, `the number ${tooLong}`],
  ['plans add west LONG --price 10', `the name ${tooLong}`],
  [
    'people add --first A --last L --email b@x.org --role whitelabel_admin',
    'a whitelabel_admin is a person of a white-label site: --site says of which',
  ],
  ['people role 999999 user', 'there is no living person 999999'],
  ['people role 999999 geosite_admin', 'there is no living person 999999 of a region'],
  ['sites add BLANK --kind geo --name North', noCode],
  ['sites add ../x --kind geo --name North', noCode],
  ['sites add a,b --kind geo --name North', noCode],
  ['sites add east --kind whitelabel --name East --region west', 'there is no region west'],
  ['sites add east --kind whitelabel --name East --region nowhere', 'there is no region nowhere'],
  ['sites add east --kind geo --name East --domain :::', '--domain: ::: is no host name'],
  ['sites add east --kind geo --name East --domain east', '--domain: east is no host name'],
  [
    'webhooks add west https://me:hidden@x.org/',
    'that address cannot be called: it holds a name or a password',
  ],
  ['webhooks deliveries 999', 'there is no webhook 999'],
  ['keys list --person 999999', 'there is no living person 999999'],
  ['call GetBrokers Limit=1 --body {}', 'parameters are either Name=value or --body, not both'],
  ['fees west --payer site', 'a site that pays needs --tiers, such as 1-10:5,11:4.50'],
  ['strategy set 1 --price EMPTY', '--price is dollars and cents, 0 or more'],
  ['catalog set west 1 --markup EMPTY', '--markup is dollars and cents, 0 or more'],
  ['catalog set west 1 --name BLANK', '--name says nothing'],
  ['plans add west BLANK --price 10', 'the name says nothing'],
  ['plans add west Gold --price 10 --strategies 99999999999', `--strategies ${tooLarge}`],
  ['strategy set 1', noChange],
  ['catalog set west 1', noChange],
  ['accounts set BROKER U1', noChange],
  ['accounts setup BROKER U1 1', noChange],
  ['brokers set BROKER', noChange],
  ['sites support west', noChange],
  ['sites support west --email nobody', 'nobody is no e-mail address'],
  ['sites support west --email <a@b.example>', '<a@b.example> is no e-mail address'],
  ['sites support west --url javascript:alert(1)', noPage],
  ['sites support west --url help.example.com', noPage],
  ['approvals fail 327995bd-50cb-4c52-9498-e86e85c6aad7 --reason BLANK', '--reason says nothing'],
  ['sites support west --company BLANK', '--company says nothing'],
  ['accounts setup BROKER U1 1 --min-futures 99999999999', `--min-futures ${tooLarge}`],
  ['accounts set BROKER U1 --sales-rep-id 2147483648', `--sales-rep-id ${tooLarge}`],
  ['accounts set BROKER U1 --introducing-broker-id 2147483648', `--introducing-broker-id ${tooLarge}`],
  ['accounts set 99999999999 U1 --sales-rep X', 'there is no broker 99999999999'],
  ['brokers set 99999999999 --enabled on', 'there is no broker 99999999999'],
  ['mux create 1 --name BLANK --owner PERSON', '--name says nothing'],
  ['mux create 1 --name V --owner PERSON --capital 0', '--capital is more than nothing'],
  ['mux create 1 --name V --owner PERSON --capital EMPTY', '--capital is dollars and cents, 0 or more'],
])('%s', async (line, says) => {
  const stands: Record<string, string> = { ...(await ids()), BLANK: ' ', EMPTY: '' }
  const words = line.split(' ').map((word) => stands[word] ?? word.replace('LONG', long))
  expect(await run(...words)).toEqual({ status: 1, output: '', errors: `lockstep: ${says}` })
  const left = await db.read.one`
    select (select count(*) from access_key)::int as keys, (select count(*) from account)::int as accounts,
      (select count(*) from person)::int as people, (select count(*) from site where kind <> 'platform')::int as sites`
  expect(left).toEqual({ keys: 0, accounts: 0, people: 1, sites: 2 })
})
