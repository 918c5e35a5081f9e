import { randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import { createReconcilePort } from '../../../src/client/reconcile-port.js';
import { paymentActionsWorkflowId, PAYMENTS_TASK_QUEUE } from '../../../src/contract/names.js';
import { accountOf } from '../../../src/domain/reconcile/account.js';
import { CARDS } from '../../support/charges.js';
import { testDataConverter } from '../../support/data-converter.js';
import { movements } from '../../support/payments.js';
import {
  begin,
  beginActions,
  beginHeld,
  beginHold,
  ledgerRows,
  reviewedInput,
  SPECS,
} from '../../support/virtual-flows.js';
import { plant, signalEvent } from '../../time/checks.js';
import { beginOwing, braking } from './braking.js';
import {
  answers,
  beginFlow,
  DAY,
  failsWith,
  HOUR,
  inputOf,
  keysOf,
  lostReply,
  MINUTE,
  OPERATOR,
  runLengths,
  sharedTime,
  shownRuns,
  provideVoidsOfPending,
} from './context.js';
import { type HandedOn, handedOn, plainPayload } from './handed-on.js';

/** Its engine suggests to continue as new after very few events: there is a border between any two waits. */
const time = sharedTime({}, { suggestRunAfter: () => 12 });
const { brake, release } = braking(time);
const RELEASE = { commandId: 'released' };
const PENDS: FaultInput = { action: 'result', status: 'Pending', path: '*/charges' };
const runsOf = (workflowId: string) => shownRuns(time, workflowId);

describe('by runs of a few events', () => {
  test('a capture that pends is joined by its command id, and answered once', async () => {
    const hold = await beginHeld(time, { onDeadline: 'void' });
    await time.sandbox.addFault({
      action: 'result',
      status: 'Pending',
      path: '*/captures',
      reconciliation_id: hold.reference,
    });
    const first = await hold.ask('capture', { commandId: 'take', amount: 5_000 });
    expect(['unknown', 'pending']).toContain(first.status);
    await time.passUntil(hold.startedAt + 3 * DAY);
    expect(runsOf(hold.workflowId).length).toBeGreaterThan(3);
    const { transactionId = '' } = await hold.status();
    const later = time.holdfast.capture(
      hold.reference,
      { commandId: 'take', amount: 5_000 },
      { waitFor: '10 minutes' },
    );
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.holdfast.retryNow(hold.reference, OPERATOR);
    expect(await later).toMatchObject({ status: 'succeeded', transactionId, amount: 5_000 });
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      capturedAmount: 5_000,
      actions: [{ commandId: 'take' }],
    });
    expect(time.requests.operations((await hold.status()).paymentId ?? '', 'captures')).toHaveLength(1);
  });

  test('a review that nobody ends goes on, and is ended by an operator in whichever run', async () => {
    const input = await reviewedInput(time, {
      risk: { when: 'before', onReviewTimeout: 'escalate', reviewTimeLimit: '100 weeks' },
    });
    const flow = await begin(time, SPECS.charge(input));
    await time.passUntil(flow.startedAt + 20 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'underReview' });
    expect(runsOf(flow.workflowId).length).toBeGreaterThan(5);
    const { who, why } = OPERATOR;
    await flow.ask('decideReview', { decision: 'approve', who, why });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', risk: { decidedBy: 'operator' } });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('a review that was given to a person for ever goes on, too', async () => {
    const input = await reviewedInput(time, {
      risk: { when: 'before', onReviewTimeout: 'escalate', reviewTimeLimit: '1 hour' },
    });
    const flow = await begin(time, SPECS.charge(input));
    await time.passUntil(flow.startedAt + 20 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'underReview', needsOperator: true });
    expect(runsOf(flow.workflowId).length).toBeGreaterThan(5);
    const { who, why } = OPERATOR;
    await flow.ask('decideReview', { decision: 'decline', who, why });
    expect(await flow.outcome()).toMatchObject({ status: 'declined', category: 'risk_declined' });
  });

  test('a void that comes before the money is held is kept, and told to nobody as what pends', async () => {
    await time.sandbox.settings({ pendingMs: DAY });
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + HOUR);
    expect(await hold.ask('void', RELEASE)).toMatchObject({ status: 'unknown' });
    await time.passUntil(hold.startedAt + 20 * HOUR);
    expect(runsOf(hold.workflowId).length).toBeGreaterThan(3);
    await expect(hold.ask('capture')).rejects.toMatchObject(failsWith('StateConflict', 'a void has been asked for'));
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'command' });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
    expect(await time.holdfast.void(hold.reference, RELEASE)).toMatchObject({ status: 'succeeded' });
  });

  test.each(['charge', 'capture'] as const)(
    'a void of a %s that pends is followed, and so is what it voids',
    async (of) => {
      await provideVoidsOfPending(time, 'allowed');
      await time.sandbox.settings({ pendingMs: 7 * DAY });
      const pends = (path: string) => ({ action: 'result', status: 'Pending', path }) as const;
      const flow =
        of === 'charge'
          ? await beginFlow(time, of, await inputOf(time, of), [pends('*/charges'), pends('*/voids')])
          : await beginHold(time, { captureMode: 'auto' }, { faults: [pends('*/captures'), pends('*/voids')] });
      await time.passUntil(flow.startedAt + HOUR);
      const { transactionId } = await flow.status();
      const { answer } = await flow.command('void', RELEASE);
      expect(['unknown', 'pending']).toContain((await answer).status);
      await time.passUntil(flow.startedAt + 2 * DAY);
      expect(runsOf(flow.workflowId).length).toBeGreaterThan(3);
      const voiding = await flow.status();
      expect(voiding).toMatchObject({ operation: 'void', status: 'pending' });
      await time.sandbox.complete(voiding.transactionId ?? '', { status: 'Succeed' });
      await time.holdfast.retryNow(flow.reference, OPERATOR);
      await time.passUntil((await time.now()) + 2 * DAY);
      await time.sandbox.complete(transactionId ?? '', { status: 'Failed' }).catch(() => undefined);
      expect(await flow.outcome()).toMatchObject({
        status: 'voided',
        transactionId: voiding.transactionId,
        voided: { transactionId },
        actions: expect.arrayContaining([expect.objectContaining({ action: 'void', commandId: 'released' })]),
      });
      expect(keysOf(time, flow.reference).filter((key) => key.startsWith('void'))).toEqual(['void:1']);
      await provideVoidsOfPending(time, 'refused');
    },
  );

  test('a command of which only a person can tell waits for one in whichever run', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    const { paymentId = '' } = await hold.status();
    const path = `/payments/${paymentId}/captures`;
    const lost = await time.sandbox.addFault(lostReply(path, 1_000));
    const unread = await time.sandbox.addFault(answers(503, 'GET', path));
    await hold.command('capture', { commandId: 'one', amount: 7_000 });
    await time.passUntil((await time.now()) + MINUTE);
    await time.client.workflow.getHandle(hold.workflowId).terminate('by mistake');
    for (const { id } of [lost, unread]) await time.sandbox.removeFault(id);

    const again = { commandId: 'one', amount: 7_000 };
    expect(await time.holdfast.capture(hold.reference, again)).toMatchObject({ status: 'unknown' });
    const workflowId = paymentActionsWorkflowId(paymentId);
    await time.passUntil((await time.now()) + 3 * DAY);
    expect(runsOf(workflowId).length).toBeGreaterThan(1);
    const actions = time.client.workflow.getHandle(workflowId);
    const said = { ...OPERATOR, status: 'succeeded' };
    const settled = await actions.executeUpdate<{ status: string }, [object]>('settleManually', { args: [said] });
    expect(settled).toMatchObject({ status: 'succeeded' });
    const { who, why } = OPERATOR;
    expect(await time.holdfast.capture(hold.reference, again)).toMatchObject({
      status: 'succeeded',
      amount: 7_000,
      evidence: { operator: { who, why } },
    });
    expect(await ledgerRows(time, paymentId)).toEqual(['authorization Succeed 20000 USD', 'capture Succeed 7000 USD']);
  });

  test('a refund that a flow owes of itself outlasts a brake in runs that stay short, and is sent once', async () => {
    const { flow, canStore } = await beginOwing(time, brake);
    expect(runsOf(flow.workflowId).length).toBeGreaterThan(3);
    await release();
    expect(await flow.outcome()).toMatchObject({ money: { status: 'refunded' } });
    await canStore();
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD', 'refund Succeed 6000 USD']);
  });

  test('a refund that pends over them is known to a reconciliation once it has ended', async () => {
    const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/refunds` });
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: charge.reference });
    await actions.ask('refund', { commandId: 'back', amount: 5_500 });
    await time.passUntil((await time.now()) + 3 * DAY);
    const { transactionId = '' } = await actions.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.passUntil((await time.now()) + 6 * DAY);
    const [flow] = await createReconcilePort(time.client).flowsById([actions.workflowId]);
    if (flow === undefined) throw new Error('there is no such flow');
    expect(flow).toMatchObject({ state: 'open', status: 'idle' });
    expect(accountOf(flow).named).toContain(transactionId);
  });

  test('a cancel of an earlier run goes along, and releases the hold in the run that sees it', async () => {
    await time.sandbox.settings({ pendingMs: DAY });
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + HOUR);
    await hold.cancel();
    await time.passUntil(hold.startedAt + 20 * HOUR);
    const { length } = runsOf(hold.workflowId);
    expect(length).toBeGreaterThan(3);
    expect(await hold.status()).toMatchObject({ status: 'pending', cancelRequested: true });
    expect(await movements(time, hold.reference)).toEqual(['authorization Pending 6000 USD']);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'cancel' });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
    expect(keysOf(time, hold.reference)).toEqual(['createPayment:1', 'authorize:1', 'void:1']);
  });

  test('a charge that was cancelled in an earlier run is followed all the same, and its events are received', async () => {
    const input = await time.input();
    await plant(time, input, PENDS);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 5 * HOUR);
    const handle = time.client.workflow.getHandle(charge.workflowId);
    await handle.cancel();
    await time.passUntil(charge.startedAt + 10 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'pending', cancelRequested: true });
    const { paymentId = '', transactionId = '' } = await charge.status();
    await signalEvent(time, charge, { paymentId, transactionId, status: 'Succeed' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(time.requests.posts(input.reference)).toHaveLength(2);
  });

  test('a first run is refused what only a later one is given, and sends nothing', async () => {
    const input = await time.input();
    const raw = await time.client.workflow.start('charge', {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId: `payment-${input.reference}`,
      args: [input, { v: 1, state: {}, commands: [], frames: [] }],
    });
    await expect(raw.result()).rejects.toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringContaining('a second argument is for later runs only') },
    });
    expect(time.requests.posts(input.reference)).toEqual([]);
  });

  test.each([
    ['what a later version wrote', async (handed: HandedOn) => plainPayload({ ...(await handed.clear()), v: 2 })],
    ['what has no version', async (handed: HandedOn) => plainPayload({ ...(await handed.clear()), v: undefined })],
    ['nothing', async () => undefined],
    ['what no worker has the key of', async () => await strangePayload()],
  ])(
    'a run that is handed on %s sends nothing, and stays open until it is given what it can read',
    async (_how, make) => {
      const hold = await beginHeld(time, { captureDeadline: '4 hours', onDeadline: 'void' });
      const handed = handedOn(time, hold.workflowId);
      /** Until the flow has continued as new. */
      const continueAsNew = async (): Promise<void> => {
        const before = runLengths(time, hold.workflowId).length;
        while (runLengths(time, hold.workflowId).length === before) {
          await hold.event({ eventType: 'payment.payment.update' });
          await time.passUntil((await time.now()) + MINUTE);
        }
      };
      await continueAsNew();
      const { paymentId = '' } = await hold.status();
      handed.replaceBy(await make(handed));
      await continueAsNew();
      await time.passUntil(hold.startedAt + 6 * HOUR);
      expect((await time.client.workflow.getHandle(hold.workflowId).describe()).status.name).toBe('RUNNING');
      expect(await ledgerRows(time, paymentId)).toEqual(['authorization Succeed 6000 USD']);
      expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
      handed.restore();
      expect(await hold.outcome()).toMatchObject({ status: 'voided' });
      expect(await ledgerRows(time, paymentId)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
    },
  );
});

/** Under a key that nobody has. */
async function strangePayload(): Promise<Payload> {
  const { payloadCodecs } = loadDataConverter(testDataConverter(`strange:${randomBytes(32).toString('base64')}`));
  const [sealed] = (await payloadCodecs[0]?.encode([plainPayload({ v: 1 })])) ?? [];
  if (sealed === undefined) throw new Error('there is no codec');
  return sealed;
}
