import { expect, test } from 'vitest'
import { type CatalogFacts, decideCatalog } from './catalog.ts'

const facts = (some: Partial<CatalogFacts> = {}): CatalogFacts => ({
  isListed: false,
  isHidden: false,
  isResellable: true,
  payingSubscribers: 0,
  ...some,
})

test.each([
  ['a new one', 'Add', facts(), 'added'],
  ['one that is there', 'Add', facts({ isListed: true }), 'already_in_catalog'],
  [
    'one that is there and may not be resold any more',
    'Add',
    facts({ isListed: true, isResellable: false }),
    'already_in_catalog',
  ],
  ['one that may not be resold', 'Add', facts({ isResellable: false }), 'not_resellable'],
  ['an unknown one', 'Add', null, 'not_found'],
  ['one that was there and is hidden now', 'Add', facts({ isHidden: true }), 'not_found'],
  ['one that was there and is hidden now', 'Remove', facts({ isHidden: true }), 'not_in_catalog'],
  ['one that is there', 'Remove', facts({ isListed: true }), 'removed'],
  ['one that is not there', 'Remove', facts(), 'not_in_catalog'],
  ['one that is not there, with subscribers', 'Remove', facts({ payingSubscribers: 2 }), 'not_in_catalog'],
  ['one with subscribers', 'Remove', facts({ isListed: true, payingSubscribers: 1 }), 'active_subscribers'],
  ['an unknown one', 'Remove', null, 'not_found'],
] as const)('%s: %s', (_name, action, given, status) => {
  expect(decideCatalog(action, given)).toBe(status)
})
