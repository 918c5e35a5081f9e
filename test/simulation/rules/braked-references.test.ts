import { expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { ReferenceBookInMemory } from '../../support/reference-book-in-memory.js';
import { braking } from './braking.js';
import { beginFlow, DONE, HOUR, inputOf, sharedTime } from './context.js';

const book = new ReferenceBookInMemory();
const time = sharedTime({}, { referenceBook: book });
const { brake, release } = braking(time);

test('what a forgotten flow has charged is not answered as never sent while its unit is braked', async () => {
  const input = await inputOf(time, 'charge');
  const first = await beginFlow(time, 'charge', input);
  const { transactionId } = (await first.outcome()) as { transactionId?: string };
  time.simulation.engine.forget(first.workflowId);
  await time.passUntil((await time.now()) + 25 * HOUR);
  await brake();
  const again = await beginFlow(time, 'charge', input);
  expect(await again.outcome()).toMatchObject({ status: 'succeeded', transactionId });
  expect(await movements(time, input.reference)).toEqual(DONE.charge);
});

test('a reference of a flow that was braked is free for the next one once that is forgotten', async () => {
  const input = await inputOf(time, 'charge');
  await brake();
  const braked = await beginFlow(time, 'charge', input);
  expect(await braked.outcome()).toMatchObject({ status: 'notExecuted', braked: true });
  expect(book.entries.has(braked.workflowId)).toBe(false);
  await release();
  time.simulation.engine.forget(braked.workflowId);
  const again = await beginFlow(time, 'charge', input);
  expect(await again.outcome()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, input.reference)).toEqual(DONE.charge);
});
