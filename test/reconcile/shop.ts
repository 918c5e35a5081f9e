import { setTimeout as sleep } from 'node:timers/promises';
import type { FindingKind } from '../../src/contract/reconcile.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { ProviderClient } from '../../src/provider/index.js';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { dispatcherTo } from '../support/dispatcher-to.js';
import type { TestStack } from '../support/stack.js';

/** Of 0, 2 and 3 decimals. All are sums at which nothing fails or pends. */
const CURRENCIES = ['EUR', 'JPY', 'KWD', 'USD'];
const AT_ONCE = 24;
const WAIT = { waitFor: '60 seconds' } as const;

/** A difference that was planted: its kind, and the subject of its finding. */
type Planted = `${FindingKind} ${string}`;

type Line = Record<string, unknown> & { kind: string; transaction_id: string; reconciliation_id?: string };

/** Payments of every kind, of many currencies: charges, declined ones, holds captured in part, refunds, credits. */
export async function trade({ holdfast, sandbox }: TestStack, count: number): Promise<string[]> {
  const references: string[] = [];
  const makers = Array.from({ length: count }, (_, index) => async () => {
    const reference = newReference(`r${index}`);
    references.push(reference);
    const currency = CURRENCIES[index % CURRENCIES.length] ?? 'EUR';
    const amount = 20_000 + index;
    const card = index % 10 === 6 ? CARDS.declines : CARDS.succeeds;
    const input = await chargeInput(sandbox, card, { reference, amount, currency });
    if (index % 10 === 7) {
      await holdfast.authorize(input, WAIT);
      await holdfast.capture(reference, { commandId: 'take', amount: 5_000 + index }, WAIT);
      await holdfast.authorize(input, WAIT);
    } else if (index % 10 === 9) await holdfast.credit(input, WAIT);
    else await holdfast.charge(input, WAIT);
    if (index % 10 === 8) {
      await holdfast.refund({ payment: reference, reference: newReference('back'), amount: 4_000 }, WAIT);
      await holdfast.refund({ payment: reference, commandId: 'again', amount: 5_000 }, WAIT);
    }
  });
  const queue = makers.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const make of queue) await make();
    }),
  );
  return references;
}

/** The payment service, as somebody calls it who is no flow. */
export function elsewhere(stack: TestStack) {
  const unit = { ...DEFAULT_UNIT, apiVersion: '1.3.0' } as const;
  const service = new ProviderClient({
    baseUrl: stack.sandboxUrl,
    environment: 'test',
    unit,
    dispatcher: dispatcherTo(stack.sandboxUrl),
  });
  return {
    async charge(reconciliationId: string, amount = 7_777, currency = 'EUR'): Promise<string> {
      const { token } = await stack.sandbox.tokenize(CARDS.succeeds);
      const { data: payment } = await service.createPayment({ amount, currency });
      const paymentMethod = { type: 'tokenized', token } as const;
      return (await service.createCharge(payment.id, { paymentMethod, reconciliationId })).data.id;
    },
    async refund(paymentId: string, amount: number): Promise<string> {
      return (await service.createRefund(paymentId, { amount, reconciliationId: newReference('hand') })).data.id;
    },
  };
}

/** Money whose flow was terminated before it knew of it. */
export async function abandoned(stack: TestStack): Promise<{ reference: string; transactionId: string }> {
  const { reference, transactionId } = await pending(stack);
  await stack.temporal.workflow.getHandle(paymentWorkflowId(reference)).terminate('wrong button');
  await stack.sandbox.complete(transactionId, { status: 'Succeed' });
  return { reference, transactionId };
}

/** A charge that stays pending. */
export async function pending({ holdfast, sandbox }: TestStack): Promise<{ reference: string; transactionId: string }> {
  const input = await chargeInput(sandbox, CARDS.succeeds, { reference: newReference('pends'), amount: 8_000 });
  await sandbox.addFault({
    action: 'result',
    status: 'Pending',
    path: '*/charges',
    reconciliation_id: input.reference,
    times: 1,
  });
  const answer = await holdfast.charge(input, { waitFor: '5 seconds' });
  if (answer.status !== 'pending') throw new Error(`the charge is ${answer.status}`);
  const [entry] = await sandbox.ledger(input.reference);
  return { reference: input.reference, transactionId: entry?.transaction_id ?? '' };
}

/**
 * Plants `each` differences of every kind, some at the service and some in its statement, among things that are none.
 * @returns the statement, and what is to be found in it
 */
export async function plant(stack: TestStack, references: readonly string[], each: number) {
  const planted: Planted[] = [];
  const other = elsewhere(stack);
  const succeeded = references.filter((_, index) => index % 10 < 6);
  const refunded = references.filter((_, index) => index % 10 === 8);
  if (succeeded.length < 5 * each || refunded.length < each)
    throw new Error('too few payments for so many differences');
  for (let index = 0; index < each; index += 1) {
    planted.push(`moneyWithoutFlow ${await other.charge(newReference('foreign'))}`);
    planted.push(`moneyTwice ${await other.charge(succeeded[index] ?? '')}`);
    const { transactionId } = await abandoned(stack);
    planted.push(`moneyWithoutFlow ${transactionId}`);
    const [charge] = await stack.sandbox.ledger(refunded[index]);
    planted.push(`moneyWithoutFlow ${await other.refund(charge?.payment_id ?? '', 6_000)}`);
    // In flight.
    await pending(stack);
  }
  // Longer than the settlement window of these tests.
  await sleep(3_000);
  const lines = (await stack.sandbox.statement()).trim().split('\n');
  const kept: Line[] = lines.slice(1).map((line) => JSON.parse(line) as Line);
  const chargeOf = (reference: string | undefined): Line => {
    const line = kept.find((one) => one.kind === 'charge' && one.reconciliation_id === reference);
    if (line === undefined) throw new Error(`the statement lacks ${reference}`);
    return line;
  };
  const next = succeeded.slice(each).values();
  const take = (): Line => chargeOf(next.next().value);
  for (let index = 0; index < each; index += 1) {
    const sum = take();
    sum['amount'] = Number(sum['amount']) + 1;
    const currency = take();
    currency['currency'] = 'CHF';
    const gone = take();
    kept.splice(kept.indexOf(gone), 1);
    const late = take();
    late['settled'] = new Date(Date.parse(String(late['settled'])) + 3 * 86_400_000).toISOString();
    planted.push(`otherAmount ${sum.transaction_id}`, `otherAmount ${currency.transaction_id}`);
    planted.push(`flowWithoutMoney ${gone.transaction_id}`, `late ${late.transaction_id}`);
  }
  return { planted, statement: [lines[0], ...kept.map((line) => JSON.stringify(line))].join('\n') };
}
