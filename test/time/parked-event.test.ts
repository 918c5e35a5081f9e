import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { startParkedEvent } from '../../src/client/event-sink.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { parkedEventWorkflowId } from '../../src/contract/names.js';
import type { ParkedEventResult, ParkReason } from '../../src/contract/parked-event.js';
import { DEFAULT_UNIT } from '../../sandbox/business-units.js';
import { newReference } from '../support/charges.js';
import { startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

const HOUR = 3_600_000;

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(() => time?.close());

async function paymentOf(workflowId?: string): Promise<string> {
  const additionalDetails = workflowId === undefined ? {} : { holdfast_workflow_id: workflowId };
  const { data } = await time.provider.createPayment({ amount: 1095, currency: 'USD', additionalDetails });
  return data.id;
}

/** Parks an event of this payment as the webhook handler does. */
async function park(paymentId: string, reason: ParkReason = 'flowNotFound', { trusted = true } = {}) {
  const hash = randomUUID().replaceAll('-', '').padEnd(64, '0');
  const event: TransactionEvent = {
    hash,
    eventType: 'payment.charge.update',
    created: '2026-11-06T14:33:46.150Z',
    businessUnit: 'default',
    paymentId,
    transactionId: randomUUID(),
    status: 'Succeed',
    trusted,
  };
  await startParkedEvent(time.client, { event, reason }, 'once');
  return time.client.workflow.getHandle<() => Promise<ParkedEventResult>>(parkedEventWorkflowId(hash));
}

async function shown(workflowId: string) {
  const { typedSearchAttributes } = await time.client.workflow.getHandle(workflowId).describe();
  return {
    status: typedSearchAttributes.get(defineSearchAttributeKey('PaymentStatus', SearchAttributeType.KEYWORD)),
    needsOperator: typedSearchAttributes.get(defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL)),
  };
}

describe('a parked event', () => {
  test('whose flow never comes is looked after for 24 h, then shown as unclaimed to an operator', async () => {
    const owner = `payment-${newReference()}`;
    const parked = await park(await paymentOf(owner));
    const result = await parked.result();
    expect(result).toMatchObject({ status: 'unclaimed', reason: 'flowNotFound', workflowId: owner });
    expect(Date.parse(result.endedAt) - Date.parse(result.parkedAt)).toBeGreaterThanOrEqual(24 * HOUR);
    expect(Date.parse(result.endedAt) - Date.parse(result.parkedAt)).toBeLessThan(25 * HOUR);
    // Back-off: a history stays short.
    expect(result.attempts).toBeLessThan(40);
    expect(await shown(parked.workflowId)).toEqual({ status: 'unclaimed', needsOperator: true });
    expect(await parked.query<string>('explain')).toContain('"holdfast events replay" tries it again');
  });

  test('is looked after through the time in which the service does not answer', async () => {
    const fault = await time.sandbox.addFault({ action: 'status', method: 'GET', path: '/payments/*', status: 503 });
    const parked = await park(await paymentOf(), 'lookUpFailed');
    await time.passUntil((await parked.describe()).startTime.getTime() + 2 * HOUR);
    expect(await shown(parked.workflowId)).toEqual({ status: 'parked', needsOperator: false });
    await time.sandbox.removeFault(fault.id);
    expect(await parked.result()).toMatchObject({ status: 'unclaimed', reason: 'foreign' });
    expect(await shown(parked.workflowId)).toEqual({ status: 'unclaimed', needsOperator: false });
  });

  test('of a payment that the service does not show is looked after though it has commas: it was signed', async () => {
    const parked = await park(randomUUID(), 'lookUpFailed', { trusted: false });
    await time.passUntil((await parked.describe()).startTime.getTime() + HOUR);
    expect(await shown(parked.workflowId)).toEqual({ status: 'parked', needsOperator: false });
    const result = await parked.result();
    expect(result).toMatchObject({ status: 'unclaimed', reason: 'lookUpFailed' });
    expect(Date.parse(result.endedAt) - Date.parse(result.parkedAt)).toBeGreaterThanOrEqual(24 * HOUR);
    expect(await shown(parked.workflowId)).toEqual({ status: 'unclaimed', needsOperator: true });
  });

  test('that contradicts a flow stays so, though that is kept no longer and the service does not name it', async () => {
    const parked = await park(await paymentOf(), 'contradictsResult');
    const started = (await parked.describe()).startTime.getTime();
    await time.passUntil(started + HOUR);
    expect(await shown(parked.workflowId)).toEqual({ status: 'parked', needsOperator: true });
    expect(await parked.result()).toMatchObject({ status: 'unclaimed', reason: 'contradictsResult' });
    expect(await shown(parked.workflowId)).toEqual({ status: 'unclaimed', needsOperator: true });
  });

  test('whose flow the service has named once is not foreign when it names it no more', async () => {
    const echo = async (echo_additional_details: boolean) =>
      await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { echo_additional_details } });
    const owner = `payment-${newReference()}`;
    const parked = await park(await paymentOf(owner), 'lookUpFailed');
    await time.passUntil((await parked.describe()).startTime.getTime() + HOUR);
    await echo(false);
    const result = await parked.result();
    await echo(true);
    expect(result).toMatchObject({ status: 'unclaimed', reason: 'flowNotFound', workflowId: owner });
    expect(await shown(parked.workflowId)).toEqual({ status: 'unclaimed', needsOperator: true });
  });

  test('of a form that nobody knows is refused, and no task of it fails', async () => {
    const start = time.client.workflow.execute('parkedEvent', {
      workflowId: 'parked-event-nonsense',
      taskQueue: 'holdfast',
      args: [{ event: { hash: 'x' } }],
    });
    await expect(start).rejects.toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ type: 'InvalidInput' }) }),
    );
  });
});
