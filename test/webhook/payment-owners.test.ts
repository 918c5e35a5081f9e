import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { createPaymentOwners, type PaymentDetails } from '../../src/webhook/route.js';

const eventOf = (businessUnit: string, paymentId: string): TransactionEvent => ({
  hash: 'ab',
  eventType: 'payment.charge.update',
  created: '2027-01-31T10:00:00Z',
  businessUnit,
  paymentId,
  trusted: true,
});
const FIRST = eventOf('default', 'pay-1');

/** A service that has these payments, each as `<unit> <payment>`, and notes what it is asked. */
function service(payments: Record<string, Record<string, string>>): { asked: string[]; details: PaymentDetails } {
  const asked: string[] = [];
  const details: PaymentDetails = ({ businessUnit, paymentId }) => {
    asked.push(`${businessUnit} ${paymentId}`);
    return Promise.resolve(payments[`${businessUnit} ${paymentId}`]);
  };
  return { asked, details };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  // The cache takes an entry of the moment 0 for one that never gets old.
  vi.advanceTimersByTime(1);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('whose a payment is', () => {
  test('is said by the service with the currency, or by the details alone, whose own keys may have the same names', async () => {
    // A merchant names the details: such a key is no currency of the payment.
    const details = { holdfast_workflow_id: 'payment-order-1', details: 'gift', currency: 'EUR' };
    const owners = [{ details, currency: 'USD' }, { details }, details].map((read) =>
      createPaymentOwners(() => Promise.resolve(read))(FIRST),
    );
    const workflowId = 'payment-order-1';
    expect(await Promise.all(owners)).toEqual([{ workflowId, currency: 'USD' }, { workflowId }, { workflowId }]);
  });

  test('is remembered per business unit: two providers may number their payments alike', async () => {
    const { details, asked } = service({
      'default pay-1': { holdfast_workflow_id: 'payment-order-1' },
      'other pay-1': {},
    });
    const findOwner = createPaymentOwners(details);
    expect(await findOwner(FIRST)).toEqual({ workflowId: 'payment-order-1' });
    expect(await findOwner(eventOf('other', 'pay-1'))).toBe('foreign');
    expect(await findOwner(FIRST)).toEqual({ workflowId: 'payment-order-1' });
    expect(asked).toEqual(['default pay-1', 'other pay-1']);
  });

  test('is not remembered while the service does not show the payment: it may be ours a moment later', async () => {
    const payments: Record<string, Record<string, string>> = {};
    const { details, asked } = service(payments);
    const findOwner = createPaymentOwners(details);
    expect(await findOwner(FIRST)).toBeUndefined();
    payments['default pay-1'] = { holdfast_workflow_id: 'payment-order-1' };
    expect(await findOwner(FIRST)).toEqual({ workflowId: 'payment-order-1' });
    expect(asked).toHaveLength(2);
  });

  test('is not remembered when the service did not answer', async () => {
    let answers = false;
    const findOwner = createPaymentOwners(() =>
      answers
        ? Promise.resolve({ holdfast_workflow_id: 'payment-order-1' })
        : Promise.reject(new Error('the service is away')),
    );
    await expect(findOwner(FIRST)).rejects.toThrow('the service is away');
    answers = true;
    expect(await findOwner(FIRST)).toEqual({ workflowId: 'payment-order-1' });
  });

  test('is asked again after ten minutes, and not before', async () => {
    const { details, asked } = service({ 'default pay-1': {} });
    const findOwner = createPaymentOwners(details);
    await findOwner(FIRST);
    vi.advanceTimersByTime(600_000);
    await findOwner(FIRST);
    expect(asked).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await findOwner(FIRST);
    expect(asked).toHaveLength(2);
  });

  test('is not taken from an answer that has become too old, whatever the service says now', async () => {
    let answer: () => ReturnType<PaymentDetails> = () => Promise.resolve({});
    const findOwner = createPaymentOwners(() => answer());
    expect(await findOwner(FIRST)).toBe('foreign');
    vi.advanceTimersByTime(600_001);
    answer = () => Promise.resolve(undefined);
    expect(await findOwner(FIRST)).toBeUndefined();
    answer = () => Promise.reject(new Error('the service is away'));
    await expect(findOwner(FIRST)).rejects.toThrow('the service is away');
    answer = () => Promise.resolve({ holdfast_workflow_id: 'payment-order-1' });
    expect(await findOwner(FIRST)).toEqual({ workflowId: 'payment-order-1' });
  });

  test('is asked once, however many events of a payment come at the same time', async () => {
    const { details, asked } = service({ 'default pay-1': { holdfast_workflow_id: 'payment-order-1' } });
    const findOwner = createPaymentOwners(details);
    const owners = await Promise.all(Array.from({ length: 20 }, () => findOwner(FIRST)));
    expect(owners).toEqual(Array.from({ length: 20 }, () => ({ workflowId: 'payment-order-1' })));
    expect(asked).toHaveLength(1);
  });
});
