/**
 * Search attributes of every flow: plaintext, so never personal data. The names and types are fixed;
 * SQLite visibility allows 10 keyword attributes and 3 of each other type.
 */
export const SEARCH_ATTRIBUTES = {
  PaymentStatus: 'KEYWORD',
  WaitingFor: 'KEYWORD',
  PaymentId: 'KEYWORD',
  BusinessUnit: 'KEYWORD',
  Provider: 'KEYWORD',
  SubCategory: 'KEYWORD',
  NeedsOperator: 'BOOL',
  DueAt: 'DATETIME',
  AmountMinor: 'INT',
  Currency: 'KEYWORD',
} as const;
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;

/** A longer value makes the server terminate the workflow; ours are cut well below its limit. */
export const MAX_SEARCH_ATTRIBUTE_BYTES = 200;
