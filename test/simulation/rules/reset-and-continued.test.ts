import { expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { firstRunOf, resetToFirstTask } from '../../support/resets.js';
import { begin, beginHeld, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { DAY, HOUR, OPERATOR, sharedTime } from './context.js';
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

test('a command that two runs have accepted, given again after its answer was late, keeps no run from being reset', async () => {
  const hold = await beginHeld(time, { onDeadline: 'void' });
  const { reference, workflowId } = hold;
  const pends = { action: 'result', status: 'Pending', path: '*/captures', reconciliation_id: reference } as const;
  await time.sandbox.addFault(pends);
  const capture = async () =>
    await time.holdfast.capture(reference, { commandId: 'take', amount: 5_000 }, { waitFor: 0 });
  await capture();
  await time.passUntil(hold.startedAt + 2 * DAY);
  await capture();
  const first = await firstRunOf(time.client, workflowId);
  expect((await time.client.workflow.getHandle(workflowId).describe()).runId).not.toBe(first);
  await resetToFirstTask(time.client, workflowId, [], first);
  await time.passUntil(hold.startedAt + 3 * DAY);
  const [, taken] = await time.sandbox.ledger(reference);
  await time.sandbox.complete(taken?.transaction_id ?? '', { status: 'Succeed' });
  expect(await time.client.workflow.getHandle(workflowId).result()).toMatchObject({ status: 'captured' });
  expect(await movements(time, reference)).toEqual(['authorization Succeed 6000 USD', 'capture Succeed 5000 USD']);
});
