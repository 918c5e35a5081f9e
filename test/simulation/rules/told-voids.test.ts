import { afterEach, expect, test } from 'vitest';
import { resetToFirstTask } from '../../support/resets.js';
import { tellingOf } from '../../support/telling.js';
import { failsWith, HOUR, MINUTE, sharedTime } from './context.js';
import { lateCaptures, RELEASE } from './late-captures.js';
import { listenToAll, MERCHANT } from './told.js';

const time = sharedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }]) });
const { lateCapture, provider } = lateCaptures(time);

afterEach(async () => {
  await provider('refused');
  await time.sandbox.settings({ pendingMs: 10_000 });
});

/** What the merchant is told of voids of a payment whose flow has ended. */
function toldVoids() {
  const told = listenToAll(time);
  return (workflowId: string): unknown[] =>
    told.flatMap(({ notification: { type, data, ...rest } }) =>
      rest.workflowId === workflowId && type === 'payment.voided' ? [data] : [],
    );
}

test('a void that has reversed a pending capture is told, once, with its command', async () => {
  const voidsOf = toldVoids();
  const { actions, paymentId, capture } = await lateCapture('allowed');
  const { answer } = await capture({});
  const voided = await actions.ask('void', RELEASE);
  expect(await answer).toMatchObject({ status: 'declined' });
  expect(await actions.ask('void', RELEASE)).toEqual(voided);
  await time.passUntil((await time.now()) + MINUTE);
  const { commandId } = RELEASE;
  const { transactionId } = voided;
  expect(voidsOf(actions.workflowId)).toMatchObject([{ command: 'void', commandId, paymentId, transactionId }]);
});

test.each([
  ['has succeeded', { status: 'Succeed' }, 'has succeeded although'],
  ['has failed, as nobody confirms', { status: 'Failed', category: 'provider_network_error' }, 'nobody has confirmed'],
] as const)('a void of a capture that %s is not told', async (_how, end, refusal) => {
  const voidsOf = toldVoids();
  const { actions, capture } = await lateCapture('too_late');
  const { answer, captureId } = await capture({});
  const { answer: voided } = await actions.command('void', RELEASE);
  const refused = expect(voided).rejects.toMatchObject(failsWith('StateConflict', refusal));
  await time.passUntil((await time.now()) + 4_000);
  await time.sandbox.complete(captureId, end);
  expect(await answer).toMatchObject({ transactionId: captureId });
  await refused;
  // The run that this makes finds both.
  await resetToFirstTask(time.client, actions.workflowId);
  await time.passUntil((await time.now()) + HOUR);
  expect(voidsOf(actions.workflowId)).toEqual([]);
});
