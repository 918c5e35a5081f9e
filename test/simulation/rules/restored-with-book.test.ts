import { expect, test } from 'vitest';
import { fullOr } from '../../support/counts.js';
import { movements } from '../../support/payments.js';
import { anotherCard } from '../../support/subscriptions.js';
import { ReferenceBookInMemory } from '../../support/reference-book-in-memory.js';
import { DONE, FLOW_TYPES, type FlowType, HOUR, inputOf, MINUTE, OPERATOR, sharedTime } from './context.js';
import { askFor, askUntilKnown, endedFlow, isIn, restore, taken } from './restored.js';
import { beginWeekly } from './weekly.js';

const book = new ReferenceBookInMemory();
const time = sharedTime({ billing: true }, { referenceBook: book });
/** These go on with the payment of the lost flow; the others are refused. */
const READING: readonly FlowType[] = ['charge', 'authorizeAndCapture', 'credit'];
const MOVING = FLOW_TYPES.filter((type) => DONE[type].length > 0);

/** The answer of a flow that is asked for again; its failure's type if it fails. */
const answered = (answer: Promise<string>): Promise<string> =>
  answer.catch((error: unknown) => (error as { type?: string }).type ?? String(error));

test.each(MOVING)(
  'a %s that was lost is not paid again where the book was not restored, however late it is asked for',
  async (type) => {
    const { input, status, states } = await endedFlow(time, type, await inputOf(time, type));
    for (const downFor of [0, 25 * HOUR]) {
      for (const state of fullOr(states, states.slice(0, 1))) {
        await time.passUntil(Date.now() + MINUTE);
        await restore(time, state, { downFor });
        const answer = await answered(
          downFor === 0
            ? askFor(time, type, input).then((outcome) => outcome.status)
            : askUntilKnown(time, type, input),
        );
        if (isIn(state, input)) expect([status, 'unknown']).toContain(answer);
        else expect(answer).toBe(READING.includes(type) ? status : 'ReferenceConflict');
        expect(await movements(time, input.reference)).toEqual(DONE[type]);
      }
    }
  },
);

test('a payment that the statement names is entered in a book that has forgotten it, and others have it from there', async () => {
  const input = await inputOf(time, 'charge');
  const { states } = await endedFlow(time, 'charge', input);
  const workflowId = `payment-${input.reference}`;
  const entered = book.entries.get(workflowId);
  book.entries.delete(workflowId);
  await restore(time, states[0]!, { downFor: HOUR, statement: true });
  expect(await askFor(time, 'charge', input)).toMatchObject({ status: 'succeeded' });
  expect(book.entries.get(workflowId)).toMatchObject({ paymentId: entered?.paymentId });
  expect(await movements(time, input.reference)).toEqual(DONE.charge);
});

test('a period that was billed with a card that is forgotten waits for a person, and is not billed with it again', async () => {
  const { flow, input, reach, tried } = await beginWeekly(time, { periods: 2 });
  const token = await anotherCard(time, input.customerId);
  const state = taken(time);
  await flow.command('changeCard', { token });
  await reach(0);
  const billed = ['1.1 day 0 Succeed 6000 EUR'];
  expect(await tried()).toEqual(billed);
  await restore(time, state);
  await time.passUntil(Date.now() + HOUR);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator', needsOperator: true });
  expect(await flow.explain()).toContain('another request');
  await flow.command('changeCard', { token });
  await reach(1);
  await expect(flow.command('billNow', { period: 1 })).rejects.toThrow();
  expect(await tried()).toEqual(billed);
  await flow.command('settleManually', { ...OPERATOR, status: 'succeeded' });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
  expect(await tried()).toEqual([...billed, '2.1 day 7 Succeed 6000 EUR']);
});
