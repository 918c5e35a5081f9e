import type { Client } from '@temporalio/client';
import type { HoldfastClient } from '../../../src/client/holdfast-client.js';
import { subscriptionWorkflowId } from '../../../src/contract/names.js';
import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import { createDispatcher, ProviderClient } from '../../../src/provider/index.js';
import { DEFAULT_UNIT, type SandboxControl } from '../../../sandbox/control.js';
import { groupBy, type LedgerEntry, movements } from '../../audit/ledger.js';
import { billableActions } from '../support/billable-actions.js';
import { CARD } from '../support/payments.js';
import { runJobs } from '../support/stats.js';

const HOUR_MS = 3_600_000;
/** Hours after midnight. */
const MORNING = 6;
const DAY_MS = 86_400_000;
const OPENERS = 32;
const AMOUNT = 6_000;
/** Limits the subscriptions per customer, so that they don't all read the same customer. */
const PER_CUSTOMER = 50;

type Card = Pick<SubscriptionInput, 'customerId' | 'token'>;

/** Stores one card on file per `PER_CUSTOMER` subscriptions. */
export async function storeCards(sandbox: SandboxControl, url: string, subscriptions: number): Promise<Card[]> {
  const { appId, privateKey } = DEFAULT_UNIT;
  const dispatcher = createDispatcher();
  const unit = { appId, privateKey, apiVersion: '1.3.0' } as const;
  const provider = new ProviderClient({ baseUrl: url, environment: 'test', unit, dispatcher });
  const cards: Card[] = [];
  await runJobs(Math.ceil(subscriptions / PER_CUSTOMER), 8, async (index) => {
    const { data } = await provider.createCustomer({ customerReference: `bench-${index}` });
    const { token } = await sandbox.tokenize(CARD);
    await provider.storePaymentMethod(data.id, token);
    cards.push({ customerId: data.id, token });
  });
  await dispatcher.close();
  return cards;
}

export interface Burst {
  /** Merchant references of the subscriptions. */
  references: readonly string[];
  /** Epoch ms of a full minute. */
  dueAt: number;
}

/** Without an index: what all of the round begin with. */
export function referenceOf(round: number, index?: number): string {
  return `bench-${round}-${index ?? ''}`;
}

/** Opens `count` subscriptions that all bill their only period in the same minute. */
export async function openBurst(
  holdfast: HoldfastClient,
  cards: readonly Card[],
  { count, round, dueAt, jitterMs }: { count: number; round: number; dueAt: number; jitterMs: number },
): Promise<Burst> {
  const references = Array.from({ length: count }, (_, index) => referenceOf(round, index));
  await runJobs(count, OPENERS, async (index) => {
    const card = cards[index % cards.length] as Card;
    const input = { ...inputOf(dueAt, card), reference: references[index] ?? '', periods: 1, jitter: jitterMs };
    const { status } = await holdfast.subscribe(input, { waitFor: '5 minutes' });
    if (status !== 'active') throw new Error(`${input.reference} was not open before it was due: it is ${status}`);
  });
  return { references, dueAt };
}

function inputOf(dueAt: number, card: Card): Omit<SubscriptionInput, 'reference'> {
  const { hours, timeZone } = morningOf(dueAt);
  const due = new Date(dueAt + hours * HOUR_MS).toISOString();
  return {
    ...card,
    amount: AMOUNT,
    currency: 'USD',
    interval: { every: 1, unit: 'day' },
    anchor: due.slice(0, 10),
    timeZone,
    billAt: due.slice(11, 16),
  };
}

/** A time zone, by its hours from UTC, in which it is in the morning then: a bill is never spread past the end of its day. */
function morningOf(epochMs: number): { hours: number; timeZone: string } {
  const hours = ((MORNING - new Date(epochMs).getUTCHours() + 36) % 24) - 12;
  // The signs of these names are those of POSIX.
  return { hours, timeZone: `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}` };
}

/** One sentence for each subscription that does not have exactly one successful charge in the ledger. */
export function wronglyBilled(
  { references }: Burst,
  ledger: readonly LedgerEntry[],
): { sentences: string[]; billedAt: number[] } {
  const charges = movements(ledger).filter(({ kind, amount }) => kind === 'charge' && amount === AMOUNT);
  const billed = groupBy(charges, ({ reconciliation_id: id }) => id?.split('.')[0]);
  const timesOf = (reference: string): number[] => (billed.get(reference) ?? []).map(({ created }) => Number(created));
  const sentences = references
    .filter((reference) => timesOf(reference).length !== 1)
    .map((reference) => `${reference} was billed ${timesOf(reference).length} times`);
  return { sentences, billedAt: references.flatMap(timesOf).sort((a, b) => a - b) };
}

export interface Cost {
  events: number;
  actions: number;
}

/** Opens a subscription that bills two days ago and yesterday at once, today at `dueAt`, and tomorrow. */
export async function openTypical(holdfast: HoldfastClient, card: Card, reference: string, dueAt: number) {
  const input = { ...inputOf(dueAt, card), reference, jitter: 0, missedPeriods: 'billAll' as const };
  const anchor = new Date(Date.parse(input.anchor) - 2 * DAY_MS).toISOString().slice(0, 10);
  await holdfast.subscribe({ ...input, anchor }, { waitFor: '5 minutes' });
}

/** Cost of today's run of the subscription, from its start to the start of the next run, and cost of its payment. */
export async function costOfPeriod(
  temporal: Client,
  reference: string,
): Promise<{ subscription: Cost; payment: Cost } | undefined> {
  const workflowId = subscriptionWorkflowId(reference);
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  let runId = raw.workflowExecutionInfo?.firstRunId ?? '';
  for (let period = 1; runId !== ''; period += 1) {
    const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
    if (period < 3 || events == null || runId === '') continue;
    const payment = await temporal.workflow.getHandle(`payment-${reference}.3.1`).fetchHistory();
    return { subscription: costOf(events), payment: costOf(payment.events ?? []) };
  }
  return undefined;
}

function costOf(events: NonNullable<Parameters<typeof billableActions>[0]>): Cost {
  return { events: events.length, actions: billableActions(events) };
}
