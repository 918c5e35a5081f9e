import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { FlowFacts } from '../../src/contract/reconcile.js';
import type { Row } from '../../src/domain/reconcile/match.js';
import { reconcileFlow } from '../../src/domain/reconcile/reconcile.js';
import { actions, auth, capture, refund } from './found.js';
import { action, DAY, flow, NOW, portOf, row } from './in-memory-port.js';

/** Of a charge at that time Temporal has forgotten the flow. */
const LONG_AGO = NOW - 60 * DAY;
const charged = row({ created: LONG_AGO });
const commanded = NOW - 2 * DAY;
const refunded = refund('ref-1', 500, { created: commanded });

/** A refund by command, as its flow says it. */
const commands = (change: Partial<FlowFacts> = {}): FlowFacts =>
  actions([action('refund', 'ref-1', 500)], { startedAt: commanded, closedAt: commanded, ...change });

/**
 * What the service's rows of a payment find, where Temporal keeps flows for 30 days.
 * @param begun when the first run of the payment's commands began
 */
async function found(rows: Row[], flows: FlowFacts[] = [], own = commands(), begun?: number): Promise<string[]> {
  const kept = { keptSince: async () => NOW - 30 * DAY };
  const port = { ...portOf([own, ...flows]), ...kept, firstStartedAt: async () => begun };
  const { findings } = await reconcileFlow(own, async () => ({ rows }), port, { windowMs: DAY, now: NOW });
  return findings.map(({ kind, subject }) => `${kind} ${subject}`);
}

describe('of a payment whose flow Temporal has forgotten, or that another system has made,', () => {
  test('the charge is not called money of nobody when a command refunds it', async () => {
    expect(await found([charged, refunded])).toEqual([]);
    expect(await found([row({ created: NOW - 10 * DAY, reconciliationId: 'legacy-7' }), refunded])).toEqual([]);
    expect(await found([row({ created: undefined, reconciliationId: undefined }), refunded])).toEqual([]);
  });

  test('nor are the hold and its captures', async () => {
    const captures = [1, 2].map((at) => capture(`cap-${at}`, 400, { created: LONG_AGO + at }));
    expect(await found([auth({ created: LONG_AGO }), ...captures, refunded])).toEqual([]);
    const of = (created: number) => capture('cap-1', 400, { created });
    expect(await found([auth({ created: NOW - 10 * DAY }), of(NOW - 9 * DAY), refunded])).toEqual([]);
    const before = refund('ref-0', 100, { created: NOW - 20 * DAY });
    const result = { actions: [action('refund', 'ref-0', 100), action('refund', 'ref-1', 500)] };
    const rows = (created: number) => [auth({ created: LONG_AGO }), before, of(created), refunded];
    expect(await found(rows(NOW - 21 * DAY), [], commands({ result }))).toEqual([]);
    // Of the run before, which may have sent it, only what it has answered is known.
    expect(await found(rows(NOW - 19 * DAY), [], commands({ result }))).toEqual(['moneyWithoutFlow cap-1']);
    // A command may have sent it.
    expect(await found([auth({ created: LONG_AGO }), of(commanded + 1), refunded])).toEqual(['moneyWithoutFlow cap-1']);
  });

  test('a capture is found that a terminated run of the commands may have sent', async () => {
    const rows = [auth({ created: LONG_AGO }), capture('cap-0', 400, { created: NOW - 3 * DAY }), refunded];
    expect(await found(rows, [], commands(), NOW - 4 * DAY)).toEqual(['moneyWithoutFlow cap-0']);
    expect(await found(rows, [], commands(), commanded)).toEqual([]);
  });

  test('a second charge is found, whoever made it', async () => {
    const second = row({ transactionId: 'tx-2', created: NOW - 10 * DAY });
    expect(await found([charged, second, refunded])).toEqual(['moneyTwice tx-2']);
    expect(await found([charged, { ...second, reconciliationId: 'another' }, refunded])).toEqual([
      'moneyWithoutFlow tx-2',
    ]);
    const adopted = flow(
      { reference: 'resolved', workflowId: 'resolve-tx-1', type: WORKFLOW_TYPES.resolvePending, startedAt: commanded },
      { transactionId: 'tx-1' },
    );
    expect(await found([charged, refunded], [adopted])).toEqual([]);
    expect(await found([charged, { ...second, reconciliationId: 'another' }, refunded], [adopted])).toEqual([
      'moneyWithoutFlow tx-2',
    ]);
  });

  test('a refund is found, unless the flow that made it may be forgotten too', async () => {
    const other = (created: number) => refund('by-hand', 300, { created });
    expect(await found([charged, other(LONG_AGO + DAY), refunded])).toEqual([]);
    expect(await found([charged, other(NOW - 20 * DAY), refunded])).toEqual(['moneyWithoutFlow by-hand']);
    expect(await found([charged, other(commanded + 1), refunded])).toEqual(['moneyWithoutFlow by-hand']);
  });

  test('what a flow here has told as failed, or was stopped before it told of, is found', async () => {
    const type = WORKFLOW_TYPES.resolvePending;
    const resolved = (id: string) => {
      const about = { reference: id, workflowId: `resolve-${id}`, type, startedAt: commanded, status: 'declined' };
      return flow(about, { status: 'declined', transactionId: id });
    };
    const stopped = { ...resolved('tx-1'), state: 'stopped', result: undefined } as const;
    expect(await found([charged], [], resolved('tx-1'))).toEqual(['moneyWithoutFlow tx-1']);
    expect(await found([charged], [], stopped)).toEqual(['moneyWithoutFlow tx-1']);
    // It was refused, as for a wrong id, and nobody waits for its word.
    expect(await found([charged], [], { ...resolved('tx-1'), result: undefined })).toEqual([]);
    const captured = [auth({ created: LONG_AGO }), capture('cap-1', 400, { created: LONG_AGO + 1 })];
    expect(await found(captured, [], resolved('cap-1'))).toEqual(['moneyWithoutFlow cap-1']);
    const failed = { action: 'capture', outcome: { status: 'declined', transactionId: 'cap-1' } };
    const own = commands({ result: { status: 'idle', paymentId: 'pay-1', actions: [failed] } });
    expect(await found(captured, [], own)).toEqual(['moneyWithoutFlow cap-1']);
  });

  test('that its commands were stopped is told as that, and not that other flows account for its charge', async () => {
    const own = commands({ state: 'stopped', result: undefined });
    const { findings } = await reconcileFlow(own, async () => ({ rows: [charged] }), portOf([own]), {
      windowMs: DAY,
      now: NOW,
    });
    expect(findings).toMatchObject([
      { kind: 'unfollowed', explanation: expect.stringContaining('the service shows no money of it') as string },
    ]);
  });
});

test('where the flow of the payment is known, each charge that it does not know of is found', async () => {
  const declined = flow(
    { status: 'declined', closedAt: NOW - 3 * DAY },
    { status: 'declined', transactionId: undefined },
  );
  const made = row({ created: NOW - 3 * DAY });
  expect(await found([made, refunded], [declined])).toEqual(['moneyWithoutFlow tx-1']);
  // It was stopped before it showed its payment.
  const { paymentId: _unknown, ...stopped } = flow({ state: 'stopped' });
  expect(await found([made, refunded], [stopped])).toEqual(['moneyWithoutFlow tx-1']);
});

test('a payment that was held again has several, and each is of its flow', async () => {
  const foreign = row({ paymentId: 'pay-0', reconciliationId: 'another', transactionId: 'tx-9' });
  const held = flow(
    { type: WORKFLOW_TYPES.authorizeAndCapture },
    { authorizationId: 'auth-1', transactionId: 'cap-1', status: 'captured', earlierHolds: [{ paymentId: 'pay-0' }] },
  );
  const answer = async (paymentId: string) => ({ rows: paymentId === 'pay-0' ? [foreign] : [] });
  const { findings } = await reconcileFlow(held, answer, portOf([held]), { windowMs: DAY, now: NOW });
  expect(findings.map(({ kind, subject }) => `${kind} ${subject}`)).toContain('moneyWithoutFlow tx-9');
});
