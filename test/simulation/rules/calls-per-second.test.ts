import type { Payload } from '@temporalio/common';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { describe, expect, test } from 'vitest';
import { CALL_PRIORITIES } from '../../../src/contract/activities.js';
import { movements } from '../../support/payments.js';
import { beginActions, beginHeld } from '../../support/virtual-flows.js';
import { plant } from '../../time/checks.js';
import { answers, DAY, HOUR, MINUTE, SECOND, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const PER_SECOND = 5;

describe('after an outage in which buyers have waited', () => {
  const time = sharedTime({}, { limits: { default: PER_SECOND } });

  test('its service gets no more calls per second than it is set to, and each charge is made once', async () => {
    const down = await time.sandbox.addFault(answers(503, 'POST', '/payments*'));
    const inputs = await Promise.all(Array.from({ length: 40 }, () => time.input()));
    const charges = await Promise.all(inputs.map((input) => time.start(input)));
    await time.passUntil((await time.now()) + 2 * MINUTE);
    await time.sandbox.removeFault(down.id);
    const wellAgain = await time.now();
    for (const charge of charges) expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });

    const times = time.requests.all().map(({ at }) => at);
    for (const [first, from] of times.entries()) {
      const within = times.slice(first).filter((at) => at < from + SECOND).length;
      expect(within).toBeLessThanOrEqual(PER_SECOND + 1);
    }
    const posts = time.requests.all().filter(({ at, method }) => at >= wellAgain && method === 'POST');
    const reads = time.requests.all().filter(({ at, method }) => at >= wellAgain && method === 'GET');
    const lastPost = Math.max(...posts.map(({ at }) => at));
    // Reads get their share, and no more while buyers wait.
    const meanwhile = reads.filter(({ at }) => at <= lastPost).length;
    expect(meanwhile).toBeLessThan(posts.length / 2);
    for (const { reference } of inputs) expect(await movements(time, reference)).toHaveLength(1);
  });
});

describe('what the server is told of a call', () => {
  const time = sharedTime({ billing: true });

  /** The priority of each regular call, by activity. */
  async function priorities(workflowId: string): Promise<Record<string, (number | null | undefined)[]>> {
    const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
    const found: Record<string, (number | null | undefined)[]> = {};
    for (const { activityTaskScheduledEventAttributes: call } of events ?? [])
      (found[call?.activityType?.name ?? ''] ??= []).push(call?.priority?.priorityKey);
    return found;
  }

  async function inputsOf(workflowId: string, activity: string): Promise<unknown[]> {
    const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
    const calls = (events ?? []).map(({ activityTaskScheduledEventAttributes: call }) => call);
    const of = calls.filter((call) => call?.activityType?.name === activity);
    const { loadedDataConverter } = time.client.options;
    return await Promise.all(
      of.map(
        async (call) => (await decodeArrayFromPayloads(loadedDataConverter, call?.input?.payloads as Payload[]))[0],
      ),
    );
  }

  test('a charge that a buyer waits for goes before a command and the reads that it needs, and polls go last', async () => {
    const input = await time.input();
    await plant(time, input, { ...answers(503, 'POST', '*/charges'), times: 3 });
    const charge = await time.start(input);
    await charge.outcome();
    const found = await priorities(charge.workflowId);
    expect(found['createCharge']).toEqual([CALL_PRIORITIES.buyer]);
    const actions = await beginActions(time, {
      paymentId: (await charge.status()).paymentId ?? '',
      currency: 'USD',
      paymentReference: input.reference,
    });
    await actions.ask('refund', { commandId: 'back' });
    const later = await priorities(actions.workflowId);
    expect(later['createRefund']).toEqual([CALL_PRIORITIES.command]);
    expect(later['getPaymentAndTransactions']).toEqual([CALL_PRIORITIES.command]);
    const pends = await time.input();
    await plant(time, pends, { action: 'result', status: 'Pending', path: '*/charges' });
    const pending = await time.start(pends);
    await time.passUntil(pending.startedAt + 10 * SECOND);
    expect((await priorities(pending.workflowId))['getCharge']).toEqual([CALL_PRIORITIES.poll]);
  });

  test('a bill goes after what somebody waits for', async () => {
    const { flow } = await beginWeekly(
      time,
      { periods: 1 },
      { '1.1': { ...answers(503, 'POST', '*/charges'), times: 1 } },
    );
    expect(await flow.ended()).toMatchObject({ billedPeriods: 1 });
    const found = await priorities(`payment-${flow.reference}.1.1`);
    expect(new Set(found['createCharge'])).toEqual(new Set([CALL_PRIORITIES.other]));
  });

  test.each([
    { when: 'asked for', before: 2 * HOUR, is: CALL_PRIORITIES.command },
    { when: 'asked for with less than an hour left', before: HOUR / 2, is: CALL_PRIORITIES.deadline },
    { when: 'made at the deadline', before: undefined, is: CALL_PRIORITIES.deadline },
  ])('a capture that is $when', async ({ before, is }) => {
    const hold = await beginHeld(time, { captureDeadline: '1 day', onDeadline: 'capture' });
    if (before !== undefined) {
      await time.passUntil(hold.startedAt + DAY - before);
      await hold.ask('capture', { commandId: 'all' });
    }
    await hold.outcome();
    const found = await priorities(hold.workflowId);
    expect(found['createCapture']).toEqual([is]);
    expect(found['getPayment']?.at(-1)).toBe(is);
    const [call] = await inputsOf(hold.workflowId, 'createCapture');
    const { urgentFrom = 0 } = call as { urgentFrom?: number };
    expect(Math.abs(urgentFrom - (hold.startedAt + DAY - HOUR))).toBeLessThan(MINUTE);
  });

  test('a void that no caller waits for goes after what somebody waits for', async () => {
    const hold = await beginHeld(time, { captureDeadline: '2 days', onDeadline: 'void' });
    await hold.cancel();
    await hold.outcome();
    expect((await priorities(hold.workflowId))['createVoid']).toEqual([CALL_PRIORITIES.other]);
  });
});
