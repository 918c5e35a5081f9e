import type { KnownBy } from '../../src/contract/statuses.js';
import { showMoney } from '../../src/domain/money.js';
import { knownBy, type Ending } from './demo-step.js';

const KNOWN_BY: Readonly<Record<KnownBy, string>> = {
  reply: 'by the reply of the service',
  webhook: 'by a signed webhook',
  poll: 'by asking the service',
  operator: 'by an operator',
};

const RETRY = {
  newReference: 'the same card may be tried again under a new reference',
  newCard: 'only another card may be tried',
  nobody: 'nobody may try it again as it is',
} as const;

/** The outcome of a flow as the text of a step. */
export function sentenceOf(outcome: Ending, success?: string): string {
  const by = knownBy(outcome);
  if (by === undefined) return wordsOf(outcome, success);
  const known = `known ${KNOWN_BY[by]}`;
  if (outcome.status !== 'declined') return `${wordsOf(outcome, success)}, ${known}`;
  const { category, subCategory, retryable } = outcome;
  const why = subCategory === undefined ? category : `${category}/${subCategory}`;
  return `declined (${why}), ${known}; ${RETRY[retryable]}`;
}

/** The outcome in a few words, as a cell of the closing table. */
export function wordsOf(outcome: Ending, success = 'succeeded'): string {
  switch (outcome.status) {
    case 'succeeded':
      return success;
    case 'declined':
      return `declined (${outcome.subCategory ?? outcome.category})`;
    case 'notExecuted':
      return `not executed (${outcome.reason})`;
    case 'captured':
      return outcome.released === undefined
        ? 'captured'
        : `captured in part; ${showMoney(outcome.released.amount, outcome.currency)} ${outcome.released.by === 'void' ? 'voided' : 'expires'}`;
    case 'voided':
      return `voided (${outcome.reason})`;
    case 'expired':
      return 'expired';
    case 'stored':
      return 'card on file';
    case 'consentedNotStored':
      return `consented, but not stored (${outcome.reason})`;
    case 'approve':
    case 'review':
    case 'decline':
      return `risk: ${outcome.status}`;
    case 'completed':
    case 'cancelled':
    case 'givenUp':
      return `${outcome.status}: ${outcome.billedPeriods} periods billed`;
    default:
      return outcome satisfies never;
  }
}
