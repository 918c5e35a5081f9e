import { expect } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { type Finding, findingWorkflowId, type FlowFacts, type ReconcilePort } from '../../src/contract/reconcile.js';
import type { Row } from '../../src/domain/reconcile/match.js';

export const DAY = 86_400_000;
export const NOW = Date.parse('2027-02-01T12:00:00Z');
/** A moment that is older than any settlement window of these tests. */
export const THEN = NOW - 5 * DAY;
export const iso = (time: number): string => new Date(time).toISOString();

/** In `toMatchObject`, which takes `{}` for anything. */
export const NOTHING = expect.toSatisfy((found: object) => Object.keys(found).length === 0) as object;

/** An engine that has these flows, and whose open flows know of these transactions. */
export function portOf(
  flows: readonly FlowFacts[],
  known: Readonly<Record<string, readonly string[]>> = {},
): ReconcilePort & { kept: Finding[] } {
  const kept: Finding[] = [];
  async function* each(some: readonly FlowFacts[]): AsyncGenerator<FlowFacts> {
    yield* some;
  }
  return {
    kept,
    flowsBetween: (from, until) =>
      each(flows.filter(({ startedAt, closedAt }) => startedAt < until && (closedAt ?? until) >= from)),
    flowsOf: () => each(flows),
    flowsById: async (ids) => flows.filter(({ workflowId }) => ids.includes(workflowId)),
    flowsOfPayments: async (ids) => flows.filter(({ paymentId }) => paymentId !== undefined && ids.includes(paymentId)),
    knownToOpen: async (id, texts) => new Set(texts.filter((text) => known[id]?.includes(text))),
    madeUnder: async () => undefined,
    firstStartedAt: async () => undefined,
    keptSince: async () => NOW - 365 * DAY,
    async keepFinding(finding) {
      const isKnown = kept.some((one) => findingWorkflowId(one) === findingWorkflowId(finding));
      if (!isKnown) kept.push(finding);
      return isKnown ? 'known' : 'fresh';
    },
  };
}

export function row(change: Partial<Row> = {}): Row {
  return {
    kind: 'charge',
    status: 'Succeed',
    amount: 1095,
    currency: 'USD',
    reconciliationId: 'order-1',
    paymentId: 'pay-1',
    transactionId: 'tx-1',
    created: THEN,
    settled: undefined,
    ...change,
  };
}

const evidence = (at: number) => ({
  knownBy: 'reply',
  requestIds: [],
  attempts: 1,
  startedAt: iso(at),
  settledAt: iso(at),
});

/** A flow that has ended, of order-1 unless told otherwise. */
export function flow(change: Partial<FlowFacts> & { reference?: string } = {}, result: object = {}): FlowFacts {
  const { reference = 'order-1', ...more } = change;
  return {
    workflowId: `payment-${reference}`,
    type: WORKFLOW_TYPES.charge,
    state: 'ended',
    status: 'succeeded',
    paymentId: 'pay-1',
    businessUnit: 'default',
    amount: 1095,
    currency: 'USD',
    startedAt: THEN,
    closedAt: THEN,
    ...(more.state === undefined || more.state === 'ended'
      ? {
          result: {
            status: 'succeeded',
            reference,
            amount: 1095,
            currency: 'USD',
            paymentId: 'pay-1',
            transactionId: 'tx-1',
            evidence: evidence(THEN),
            ...result,
          },
        }
      : {}),
    ...more,
  };
}

/** A command that was executed, in a flow's result. */
export function action(kind: 'refund' | 'capture' | 'void', transactionId: string, amount: number, currency = 'USD') {
  return { action: kind, outcome: { status: 'succeeded', transactionId, amount, currency, evidence: evidence(THEN) } };
}
