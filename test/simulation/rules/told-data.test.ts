import { expect, test } from 'vitest';
import { paymentActionsWorkflowId } from '../../../src/contract/names.js';
import { tellingOf } from '../../support/telling.js';
import { beginActions, beginHold } from '../../support/virtual-flows.js';
import { beginFlow, inputOf, MINUTE, sharedTime } from './context.js';
import { listenToAll, MERCHANT } from './told.js';

const time = sharedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }]) });

test('a card that was on file under another token tells neither of the two', async () => {
  const all = listenToAll(time);
  const customer = { customerReference: 'customer-of-both' };
  for (let times = 0; times < 2; times += 1) {
    const flow = await beginFlow(time, 'storeCard', await inputOf(time, 'storeCard', { customer }));
    await time.passUntil((await time.now()) + MINUTE);
    const { outcome } = (await flow.status()) as unknown as { outcome: { token: string; sameCard?: string[] } };
    expect(outcome.sameCard?.length ?? 0).toBe(times);
    for (const token of [outcome.token, ...(outcome.sameCard ?? [])]) expect(JSON.stringify(all)).not.toContain(token);
  }
  expect(all).toHaveLength(2);
});

test('a capture after the end of its hold tells what it took, as the end of a hold does', async () => {
  const all = listenToAll(time);
  const hold = await beginHold(time);
  await time.passUntil((await time.now()) + MINUTE);
  const { paymentId = '' } = await hold.status();
  await time.client.workflow.getHandle(hold.workflowId).terminate();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
  const { answer } = await actions.command('capture', { amount: 6_000, commandId: 'late' });
  await time.passUntil((await time.now()) + MINUTE);
  const { transactionId } = await answer;
  const told = all.filter(({ notification }) => notification.workflowId === paymentActionsWorkflowId(paymentId));
  const data = { command: 'capture', commandId: 'late', status: 'succeeded', capturedAmount: 6_000, transactionId };
  expect(told.map(({ notification }) => notification)).toMatchObject([{ type: 'hold.captured', data }]);
});
