import { expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { ReferenceBookInMemory } from '../../support/reference-book-in-memory.js';
import { bills, subscribe } from '../../support/subscriptions.js';
import type { AppReply } from '../world/app-call.js';
import { beginFlow, DAY, DONE, failsWith, HOUR, inputOf, MINUTE, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const book = new ReferenceBookInMemory();
const time = sharedTime({ billing: true }, { referenceBook: book });

const OTHER_APP = {
  category: 'api_request_error',
  description: 'The resource was not found.',
  more_info: 'App_id that is related to the payment was not found',
};

/** The unit has another app id now, under which the service finds no payment of before. */
function underAnotherApp(): void {
  time.simulation.world.sandbox.through = async (request, serve) => {
    const reply = await serve(request);
    const isRead = request.method === 'GET' && /^\/payments\/[^/?]+/.test(request.path);
    return isRead ? notFound(reply) : reply;
  };
}

function notFound(reply: AppReply): AppReply {
  const body = Buffer.from(JSON.stringify(OTHER_APP));
  const headers = { ...reply.headers, 'content-type': 'application/json', 'content-length': String(body.length) };
  return { ...reply, status: 404, headers, body };
}

function underItsOwn(): void {
  time.simulation.world.sandbox.through = (request, serve) => serve(request);
}

test('what a forgotten flow has charged is not told as never sent where it can not be read', async () => {
  const input = await inputOf(time, 'charge');
  const first = await beginFlow(time, 'charge', input);
  const { paymentId } = (await first.outcome()) as { paymentId?: string };
  time.simulation.engine.forget(first.workflowId);
  await time.passUntil((await time.now()) + 25 * HOUR);
  underAnotherApp();
  const again = await beginFlow(time, 'charge', input);
  await expect(again.outcome()).rejects.toMatchObject(
    failsWith('ReferenceConflict', `it made payment ${paymentId}, which could not be read`),
  );
  underItsOwn();
  expect(await again.status()).toMatchObject({ status: 'refused' });
  expect(await movements(time, input.reference)).toEqual(DONE.charge);
});

test('nor is what it has billed billed again under a next reference', async () => {
  const { flow, input, reach } = await beginWeekly(time, {});
  await reach(1);
  const onLedger = await bills(time, flow.reference);
  expect(onLedger).toHaveLength(1);
  await time.client.workflow.getHandle(flow.workflowId).terminate('by mistake');
  for (const { start } of [...time.simulation.engine.all()])
    if (start.workflowId.includes(flow.reference)) time.simulation.engine.forget(start.workflowId);
  await time.passUntil((await time.now()) + DAY);
  underAnotherApp();
  const again = await subscribe(time, { ...input, missedPeriods: 'billAll' });
  await reach(5);
  underItsOwn();
  expect(await again.status()).toMatchObject({ needsOperator: true });
  expect(await bills(time, flow.reference)).toEqual(onLedger);
});

test('nothing is concluded before the book says that no other flow has the reference', async () => {
  const input = await inputOf(time, 'charge');
  book.fails = ['claim', 'ownerOf'];
  const flow = await beginFlow(time, 'charge', input);
  await time.passUntil(flow.startedAt + DAY);
  expect(await flow.status()).toMatchObject({ status: 'started', waitingFor: 'referenceBook' });
  book.fails = [];
  await time.passUntil((await time.now()) + 2 * MINUTE);
  expect(await flow.outcome()).toMatchObject({ status: 'notExecuted' });
  expect(await movements(time, input.reference)).toEqual([]);
});
