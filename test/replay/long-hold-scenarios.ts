import type { FaultInput } from '../../sandbox/control.js';
import { paymentActionsWorkflowId } from '../../src/contract/names.js';
import { CARDS } from '../support/charges.js';
import { authorizeInput } from '../support/payments.js';
import {
  begin,
  beginActions,
  beginHeld,
  beginHold,
  reviewedInput,
  SPECS,
  type VirtualFlow,
} from '../support/virtual-flows.js';
import { HOUR, type VirtualTime } from '../support/virtual-time.js';
import type { LongScenario } from './long-scenarios.js';

const DECLINED: FaultInput = { action: 'result', status: 'Failed', category: 'payment_method_declined' };
const DOWN: FaultInput = { action: 'status', status: 503, method: 'POST' };
const UNREACHABLE: FaultInput = { action: 'result', status: 'Failed', category: 'provider_network_error' };

/** Holds and what is done to ended payments, over days of skipped time; the same rules as for `SCENARIOS`. */
export const LONG_HOLD_SCENARIOS: Readonly<Record<string, LongScenario>> = {
  'authorize-voided-at-the-deadline': async (time) => ended(await beginHold(time)),
  'authorize-captured-at-the-deadline': async (time) => ended(await beginHold(time, { onDeadline: 'capture' })),
  'authorize-void-declined-at-first': async (time) =>
    ended(await beginHold(time, {}, { faults: [{ ...DECLINED, path: '*/voids', times: 4 }] })),
  'authorize-capture-declined-at-the-deadline': async (time) =>
    ended(await beginHold(time, { onDeadline: 'capture' }, { faults: [{ ...DECLINED, path: '*/captures' }] })),
  'authorize-expired': async (time) => ended(await beginHold(time, {}, { faults: [{ ...DECLINED, path: '*/voids' }] })),
  'authorize-capture-never-confirmed': async (time) =>
    ended(
      await beginHold(
        time,
        { captureMode: 'auto', onDeadline: 'capture' },
        { faults: [{ ...UNREACHABLE, path: '*/captures' }] },
      ),
    ),
  'authorize-not-executed-payment-never-created': async (time) =>
    ended(await beginHold(time, {}, { faults: [{ ...DOWN, path: '/payments' }] })),
  'authorize-not-executed-absence-proven': async (time) =>
    ended(await beginHold(time, {}, { faults: [{ ...DOWN, path: '*/authorizations' }] })),
  'authorize-capture-not-executed-then-voided': async (time) => {
    const rejected: FaultInput = { action: 'status', status: 401, method: 'POST', path: '*/captures' };
    const hold = await beginHeld(time, {}, { faults: [{ ...DOWN, path: '*/captures', times: 1 }, rejected] });
    await hold.command('capture');
    return ended(hold);
  },
  'authorize-review-timed-out': async (time) =>
    ended(await begin(time, SPECS.authorize(await reviewedInput(time, { risk: { when: 'after' } })))),
  'authorize-review-escalated-then-declined': async (time) => {
    const risk = { onReviewTimeout: 'escalate', reviewTimeLimit: '1 hour' };
    const flow = await begin(time, SPECS.authorize(await reviewedInput(time, { risk })));
    await time.passUntil(flow.startedAt + 3 * HOUR);
    await flow.ask('decideReview', { decision: 'decline', who: 'ann', why: 'unknown customer' });
    return ended(flow);
  },
  'payment-actions-refunded-by-client': async (time) => {
    const { reference, paymentId = '' } = await charged(time, await inputToActOn(time));
    await time.holdfast.refund({ payment: reference, commandId: 'one', amount: 6_000 });
    const workflowId = paymentActionsWorkflowId(paymentId);
    await time.passUntil((await time.now()) + 31 * 24 * HOUR);
    return workflowId;
  },
  'payment-actions-refunds': async (time) =>
    await acted(time, 'charge', async (flow) => {
      await flow.ask('refund', { commandId: 'one', amount: 6_000 });
      await flow.ask('refund', { commandId: 'two', amount: 6_000 });
      await flow.ask('refund', { commandId: 'three', amount: 20_000 }).catch(() => undefined);
    }),
  'payment-actions-refund-after-a-lost-reply': async (time) =>
    await acted(time, 'charge', async (flow) => {
      await time.sandbox.addFault({ action: 'drop_reply', method: 'POST', path: '*/refunds', times: 1 });
      const { answer } = await flow.command('refund', { commandId: 'one', amount: 6_000 });
      await time.passUntil(flow.startedAt + HOUR);
      await answer;
    }),
  'payment-actions-refund-declined': async (time) =>
    await acted(time, 'charge', async (flow) => {
      await time.sandbox.addFault({ ...DECLINED, path: '*/refunds', times: 1 });
      await flow.ask('refund', { commandId: 'one', amount: 6_000 });
    }),
  'payment-actions-late-capture': async (time) =>
    await acted(time, 'part', async (flow) => {
      await flow.ask('capture', { commandId: 'second', amount: 7_000 });
      await flow.ask('void', { commandId: 'rest' }).catch(() => undefined);
    }),
};

async function acted(
  time: VirtualTime,
  made: 'charge' | 'part',
  act: (flow: VirtualFlow<unknown>) => Promise<void>,
): Promise<string> {
  const input = await inputToActOn(time);
  const { paymentId = '' } = made === 'charge' ? await charged(time, input) : await capturedInPart(time);
  const flow = await beginActions(time, { paymentId, currency: 'USD', paymentReference: input.reference });
  await act(flow);
  return ended(flow);
}

async function inputToActOn(time: VirtualTime) {
  await time.input();
  return await authorizeInput(time, CARDS.succeeds, { amount: 20_000 });
}

async function charged(time: VirtualTime, input: object) {
  return await (await begin(time, SPECS.charge(input))).outcome();
}

async function capturedInPart(time: VirtualTime) {
  const hold = await beginHeld(time, { amount: 20_000 });
  await hold.ask('capture', { commandId: 'first', amount: 6_000 });
  return await hold.outcome();
}

async function ended(flow: VirtualFlow<unknown>): Promise<string> {
  await flow.outcome().catch(() => undefined);
  return flow.workflowId;
}
