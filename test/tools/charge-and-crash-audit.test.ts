import { describe, expect, test } from 'vitest';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import type { LedgerEntry } from '../../tools/audit/ledger.js';
import type { ChargeOutcome } from '../../src/contract/charge.js';
import { auditJourneys } from '../support/crash-audit.js';
import type { CrashAnswer, Journey } from '../support/crash-paths.js';

function entry(kind: string, id: string): LedgerEntry {
  return {
    ...{ kind, payment_id: 'p', transaction_id: id, amount: 6_000, currency: 'USD', status: 'Succeed' },
    ...{ idempotency_key: `payment-a:${kind}:1`, reconciliation_id: 'a', created: '0' },
  };
}

describe('the audit of charges', () => {
  const input = {
    ...{ reference: 'a', amount: 6_000, currency: 'USD', businessUnit: 'default' },
    paymentMethod: { type: 'tokenized' as const, token: 't' },
  };
  const declined = {
    ...{ reference: 'a', amount: 6_000, currency: 'USD', paymentId: 'p', transactionId: 'c' },
    ...{ status: 'declined', category: 'risk_declined', evidence: { knownBy: 'reply' } },
  } as unknown as ChargeOutcome;

  test('sees a charge that took the money and was told as declined for its risk', () => {
    expect(auditCharges([{ input, answer: declined }], [])).toEqual([]);
    expect(auditCharges([{ input, answer: declined }], [entry('charge', 'c')])).not.toEqual([]);
  });
});

describe('the audit after a crash', () => {
  const journeyOf = (makes: string, wanted: string, before: object[] = []): Journey =>
    ({
      ...{ name: 'a', workflowId: 'payment-a', before },
      questions: [{ makes, amount: 6_000, wanted: [wanted] }],
    }) as unknown as Journey;
  const answer = (status: string, more: object): CrashAnswer =>
    ({ status, paymentId: 'p', amount: 6_000, currency: 'USD', ...more }) as unknown as CrashAnswer;
  const held = journeyOf('void', 'voided', [{ makes: 'authorization', amount: 6_000 }]);
  const voided = [entry('authorization', 'auth'), entry('void', 'v')];

  test('sees a void that is told as another transaction, or as none', () => {
    const violationsOf = (more: object) =>
      auditJourneys([{ journey: held, answers: [answer('voided', more)] }], voided);
    expect(violationsOf({ transactionId: 'v', authorizationId: 'auth' })).toEqual([]);
    expect(violationsOf({ transactionId: 'other', authorizationId: 'auth' })).not.toEqual([]);
    expect(violationsOf({ authorizationId: 'auth' })).not.toEqual([]);
    expect(violationsOf({ transactionId: 'other' })).not.toEqual([]);
  });

  test('sees an answer in another currency than that of the ledger', () => {
    const journey = journeyOf('charge', 'succeeded');
    const violationsOf = (currency: string) =>
      auditJourneys(
        [{ journey, answers: [answer('succeeded', { transactionId: 'c', currency })] }],
        [entry('charge', 'c')],
      );
    expect(violationsOf('USD')).toEqual([]);
    expect(violationsOf('EUR')).not.toEqual([]);
  });
});
