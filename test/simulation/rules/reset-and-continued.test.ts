import { expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { firstRunOf, resetToFirstTask } from '../../support/resets.js';
import { begin, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { HOUR, OPERATOR, sharedTime } from './context.js';
import { UPDATES } from './limited-unit.js';

/** A run that a reset has made soon continues as new: what follows it is a reset run as well, and says so by its memo. */
const time = sharedTime({}, { suggestRunAfter: () => 12 });

test('a review that a reset began again, and that outlasts a CVV, does not say of a charge that was made that it was not', async () => {
  const { paymentMethod } = await time.input({ cvv: '737' });
  const input = await reviewedInput(time, { paymentMethod, risk: { reviewTimeLimit: '1 day' } });
  const charge = await begin(time, SPECS.charge(input));
  await time.passUntil(charge.startedAt + HOUR);
  await charge.ask('decideReview', { ...OPERATOR, decision: 'approve' });
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
  const handle = time.client.workflow.getHandle(charge.workflowId);
  const first = await firstRunOf(time.client, charge.workflowId);
  await resetToFirstTask(time.client, charge.workflowId, [UPDATES], first);
  await time.passUntil(charge.startedAt + 4 * HOUR);
  await charge.ask('decideReview', { ...OPERATOR, decision: 'approve' });
  expect(await handle.result()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, charge.reference)).toEqual(['charge Succeed 6000 USD']);
});
