/** Roots of cash-settled options on stock indexes; the underlying of a weekly root is the index itself. */
export const indexOptionRoots: ReadonlyMap<string, { underlying: string; morningSettled: boolean }> = new Map(
  [
    ['SPX', { underlying: 'SPX', morningSettled: true }],
    ['SPXW', { underlying: 'SPX', morningSettled: false }],
    ['XSP', { underlying: 'XSP', morningSettled: false }],
    ['NDX', { underlying: 'NDX', morningSettled: true }],
    ['NDXP', { underlying: 'NDX', morningSettled: false }],
    ['XND', { underlying: 'XND', morningSettled: false }],
    ['RUT', { underlying: 'RUT', morningSettled: true }],
    ['RUTW', { underlying: 'RUT', morningSettled: false }],
    ['MRUT', { underlying: 'MRUT', morningSettled: false }],
    ['DJX', { underlying: 'DJX', morningSettled: true }],
    ['OEX', { underlying: 'OEX', morningSettled: false }],
    ['XEO', { underlying: 'XEO', morningSettled: false }],
    ['VIX', { underlying: 'VIX', morningSettled: true }],
    ['VIXW', { underlying: 'VIX', morningSettled: true }],
  ],
)
