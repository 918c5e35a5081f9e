import { describe, expect, test } from 'vitest';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { routesOf } from '../../src/domain/event-routes.js';
import { SUCCEEDED_EVENT as EVENT } from './records.js';

const OWN = 'payment-order-1001';
const ACTIONS = 'payment-actions-pay-1';
const RESOLVE = 'resolve-txn-1';

describe('the flows that an event may belong to', () => {
  test.each<[string, Partial<TransactionEvent>, string[]]>([
    ['a charge', {}, [OWN, ACTIONS, RESOLVE]],
    ['an authorization', { eventType: 'payment.authorization.create' }, [OWN, ACTIONS, RESOLVE]],
    ['a credit', { eventType: 'payment.credit.update' }, [OWN, ACTIONS, RESOLVE]],
    ['a type nobody knows', { eventType: 'refund' }, [OWN, ACTIONS, RESOLVE]],
    ['a capture', { eventType: 'payment.capture.update' }, [ACTIONS, OWN, RESOLVE]],
    ['a refund', { eventType: 'payment.refund.create' }, [ACTIONS, OWN, RESOLVE]],
    ['a void', { eventType: 'payment.void.update' }, [ACTIONS, OWN, RESOLVE]],
    ['a billing attempt', { reconciliationId: 'club-7.12.3' }, ['payment-club-7.12.3', ACTIONS, RESOLVE]],
    ['a payment of others', { reconciliationId: undefined }, [ACTIONS, RESOLVE]],
    ['the payment itself', { transactionId: 'pay-1' }, [OWN, ACTIONS]],
    ['no transaction', { transactionId: undefined }, [OWN, ACTIONS]],
    ['a reference that is the actions of the payment', { reconciliationId: 'actions-pay-1' }, [ACTIONS, RESOLVE]],
    ['the longest reference', { reconciliationId: 'a'.repeat(70) }, [`payment-${'a'.repeat(70)}`, ACTIONS, RESOLVE]],
    ['a reference that is too long', { reconciliationId: 'a'.repeat(71) }, [ACTIONS, RESOLVE]],
    ['an empty reference', { reconciliationId: '' }, [ACTIONS, RESOLVE]],
    ['a reference that begins with a blank', { reconciliationId: ' order-1001' }, [ACTIONS, RESOLVE]],
    ['a reference that ends with a blank', { reconciliationId: 'order-1001 ' }, [ACTIONS, RESOLVE]],
  ])('by what it carries, likeliest first: %s', (_name, change, routes) => {
    expect(routesOf({ ...EVENT, ...change } as TransactionEvent)).toEqual(routes);
  });
});
