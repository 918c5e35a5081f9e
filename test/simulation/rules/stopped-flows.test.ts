import { expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { beginFlow, inputOf, sharedTime } from './context.js';

const time = sharedTime();

test('a flow that was stopped in its first task may have moved money: no command says that there is none', async () => {
  const input = await inputOf(time, 'charge');
  const charging = time.hold('createCharge');
  const flow = await beginFlow(time, 'charge', input);
  await charging.reached;
  await time.client.workflow.getHandle(flow.workflowId).terminate('by mistake');
  charging.release();
  await time.passUntil((await time.now()) + 60_000);
  expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  const { holdfast } = time;
  for (const asked of [
    holdfast.refund({ payment: flow.reference }),
    holdfast.void(flow.reference),
    holdfast.capture(flow.reference),
  ])
    await expect(asked).rejects.toMatchObject({
      type: 'FlowStopped',
      message: expect.stringContaining('may have moved money'),
    });
});
