import { afterAll, beforeAll, expect, test } from 'vitest';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { begin, reviewedInput, SPECS, type VirtualFlow } from '../../support/virtual-flows.js';
import { beginFlow, DAY, failsWith, inputOf, MINUTE, OPERATOR, provideVoidsOfPending, sharedTime } from './context.js';

const time = sharedTime();
beforeAll(async () => {
  await provideVoidsOfPending(time, 'allowed');
  await time.sandbox.settings({ pendingMs: 7 * DAY });
});
afterAll(async () => {
  await time.sandbox.settings({ pendingMs: 10_000 });
  await provideVoidsOfPending(time, 'refused');
});

const approve = { ...OPERATOR, decision: 'approve' } as const;
const pass = async (ms: number) => await time.passUntil((await time.now()) + ms);

async function expectVoided(flow: VirtualFlow<unknown>): Promise<void> {
  await flow.command('void', { commandId: 'off' });
  await pass(MINUTE);
  expect(await movements(time, flow.reference)).toEqual(['charge Failed 6000 USD', 'void Succeed 6000 USD']);
  expect(await time.client.workflow.getHandle(flow.workflowId).result()).toMatchObject({ status: 'voided' });
}

test('after a reset a review is decided as before, a decision after that is refused, and a void is sent', async () => {
  const input = await reviewedInput(time, { risk: { reviewTimeLimit: '1 day' } });
  const { reference } = input;
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: '*/charges', reconciliation_id: reference });
  const charge = await begin(time, SPECS.charge(input));
  await pass(MINUTE);
  await charge.ask('decideReview', approve);
  await pass(MINUTE);
  expect(await charge.status()).toMatchObject({ status: 'pending' });
  // The engine gives the decision again, before the review opens.
  await resetToFirstTask(time.client, charge.workflowId);
  await pass(MINUTE);
  expect(await charge.status()).toMatchObject({ status: 'pending' });
  const late = charge.ask('decideReview', { ...approve, commandId: 'late' });
  await expect(late).rejects.toMatchObject(failsWith('StateConflict', 'no review is open'));
  await expectVoided(charge);
});

test('a decision that a reset run takes although it has no review keeps no void waiting', async () => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
  await pass(MINUTE);
  await resetToFirstTask(time.client, charge.workflowId);
  await pass(MINUTE);
  expect(await charge.status()).toMatchObject({ status: 'pending' });
  const { answer } = await charge.command('decideReview', approve);
  await expectVoided(charge);
  await expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'the flow ended before this was begun'));
});
