import { randomUUID } from 'node:crypto';
import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { startAttributes, startMemo } from '../../src/client/start-options.js';
import { FLOWS } from '../../src/contract/flows.js';
import type { FlowStatus } from '../../src/contract/messages.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import type { SubscriptionAnswer, SubscriptionEnded } from '../../src/contract/subscription-commands.js';
import { instantOf } from '../../src/domain/local-time.js';
import type { FaultInput, SandboxControl } from '../../sandbox/control.js';
import type { ProviderClient } from '../../src/provider/index.js';
import { CARDS, newReference } from './charges.js';
import { HOUR, MINUTE, type VirtualTime } from './virtual-time.js';

export const ROME = 'Europe/Rome';

/** A customer with one card on file, as `storeCard` leaves them. */
export async function customerWithCard(
  { sandbox, provider }: { sandbox: SandboxControl; provider: ProviderClient },
  cardNumber: string = CARDS.succeeds,
): Promise<{ customerId: string; token: string }> {
  const { data } = await provider.createCustomer({ customerReference: newReference('customer') });
  const customerId = data.id;
  return { customerId, token: await anotherCard({ sandbox, provider }, customerId, cardNumber) };
}

export async function anotherCard(
  { sandbox, provider }: { sandbox: SandboxControl; provider: ProviderClient },
  customerId: string,
  cardNumber: string = CARDS.succeeds,
): Promise<string> {
  const { token } = await sandbox.tokenize({ cardNumber });
  await provider.storePaymentMethod(customerId, token);
  return token;
}

/** A subscription in skipped time. */
export interface VirtualSubscription {
  readonly reference: string;
  readonly workflowId: string;
  /** Lets time pass until it has ended. */
  ended(): Promise<SubscriptionEnded>;
  status(): Promise<FlowStatus>;
  explain(): Promise<string>;
  /** Lets a minute pass: what could be done by now has been done. (No asking: a query of a run that ends is lost.) */
  worksOn(): Promise<void>;
  /** A command that is answered without time passing. */
  command(name: string, request?: object): Promise<SubscriptionAnswer>;
}

export async function subscribe(time: VirtualTime, input: SubscriptionInput): Promise<VirtualSubscription> {
  const { type, taskQueue, schema, workflowId, fingerprint } = FLOWS.subscription;
  const parsed = schema.parse(input);
  const handle = await time.client.workflow.start(type, {
    taskQueue,
    workflowId: workflowId(parsed),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [parsed],
    memo: startMemo(fingerprint(parsed)),
    typedSearchAttributes: startAttributes({ ...parsed, amount: parsed.amount ?? 0 }),
  });
  return subscriptionAt(time, input.reference, handle);
}

/** One that was started, by whomever. */
export function subscriptionAt(
  time: VirtualTime,
  reference: string,
  handle: Pick<WorkflowHandle, 'workflowId' | 'result'>,
): VirtualSubscription {
  const { workflowId } = handle;
  const present = time.client.workflow.getHandle(workflowId);
  return {
    reference,
    workflowId,
    ended: async () => (await handle.result()) as SubscriptionEnded,
    status: () => time.holdfast.status({ workflowId }),
    worksOn: async () => await time.passUntil((await time.now()) + MINUTE),
    explain: () => time.holdfast.explain({ workflowId }),
    async command(name, request = {}) {
      const args: [object] = [{ commandId: randomUUID(), ...request }];
      const ask = () => present.executeUpdate<SubscriptionAnswer, [object]>(name, { args });
      // This engine forgets an update now and then, but not what it did: the same command asks for its answer.
      return await ask().catch((error: unknown) => {
        if (error instanceof WorkflowNotFoundError && /^update .* not found$/.test(error.message)) return ask();
        throw error;
      });
    },
  };
}

/** Input of a monthly one of 60.00 EUR at 10:00 in Rome, without jitter, from the day after tomorrow. */
export async function monthly(
  time: VirtualTime,
  overrides: Partial<SubscriptionInput> = {},
): Promise<SubscriptionInput> {
  // Brings the clock of the sandbox up to date, so that the token is a fresh one.
  await time.input();
  const card = await customerWithCard(time);
  return {
    reference: newReference('club'),
    ...card,
    amount: 6_000,
    currency: 'EUR',
    interval: { every: 1, unit: 'month' },
    anchor: localDay((await time.now()) + 2 * 24 * HOUR, ROME),
    timeZone: ROME,
    jitter: '0 seconds',
    ...overrides,
  };
}

/** Plants what the service answers to one payment of a subscription: `on` is its period and attempt, as `3.1`. */
export async function plantOn(
  { sandbox }: { sandbox: SandboxControl },
  reference: string,
  on: string,
  fault: Partial<FaultInput>,
): Promise<void> {
  const { action = 'result', ...how } = fault;
  const charges = { method: 'POST', path: '*/charges', reconciliation_id: `${reference}.${on}` };
  await sandbox.addFault({ ...charges, action, ...(action === 'result' && { status: 'Failed' }), ...how });
}

/** A decline by the card's issuer. */
export const declinedFor = (sub_category: string): Partial<FaultInput> => ({
  category: 'payment_method_declined',
  sub_category,
});

/**
 * What the ledger says was tried for one subscription, oldest first: period and attempt, local day and hour in Rome,
 * status, amount and currency, as `3.1 2027-02-28 10h Succeed 6000 EUR`.
 */
export async function bills(time: VirtualTime, reference: string): Promise<string[]> {
  const ledger = await time.sandbox.ledger();
  return ledger
    .filter(({ reconciliation_id, kind }) => kind === 'charge' && reconciliation_id?.startsWith(`${reference}.`))
    .map(({ reconciliation_id, created, status, amount, currency }) => {
      const on = reconciliation_id?.slice(reference.length + 1);
      return `${on} ${localDay(Number(created), ROME)} ${localHour(Number(created))}h ${status} ${amount} ${currency}`;
    });
}

function localHour(epochMs: number): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: ROME, hour: '2-digit' }).format(epochMs);
}

/** Epoch ms of a day in Rome, at `hour`. */
export function inRome(date: string, hour = 10): number {
  return instantOf(date, `${String(hour).padStart(2, '0')}:00`, ROME);
}

/** The day `days` after `date`. */
export function later(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 24 * HOUR).toISOString().slice(0, 10);
}

export function localDay(epochMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(epochMs);
}
