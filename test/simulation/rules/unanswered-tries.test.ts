import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginActions, beginHeld } from '../../support/virtual-flows.js';
import { calm, type Passage } from '../world/strategies.js';
import { answers, beginFlow, HOUR, inputOf, MINUTE, SECOND, sharedTime } from './context.js';
import { lateCaptures, RELEASE } from './late-captures.js';

const time = sharedTime();
const FAILED = { action: 'result', status: 'Failed', category: 'provider_error' } as const;
const UNCONFIRMED = { status: 'declined', category: 'provider_error', confirmed: false, retryable: 'nobody' };
const CONFIRMED = { status: 'declined', category: 'provider_error', confirmed: true, retryable: 'newReference' };

beforeAll(async () => {
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { provider_errors: 'asked_again' } });
});
afterEach(async () => {
  time.simulation.world.network.strategy = calm;
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

/** What becomes of the POSTs to such a path, in their order; those after them are delivered. */
function passages(path: string, ...ways: readonly Partial<Passage>[]): void {
  let count = 0;
  time.simulation.world.network.strategy = (request) => {
    if (request.method !== 'POST' || !request.path.endsWith(path)) return calm(request);
    return { ...calm(request), ...ways[count++] };
  };
}

/** It hangs in a proxy, and arrives long after its sender has given it up. */
const stuck = (ms: number): Partial<Passage> => ({ requestDelayMs: ms });

type Told = { status: string; confirmed?: boolean };
/** What an operation comes to, once time has passed. */
type Ends = () => Promise<Told>;

async function begun(type: 'charge' | 'credit' | 'authorizeAndCapture'): Promise<Ends> {
  const flow = await beginFlow(time, type, await inputOf(time, type));
  return async () => (await flow.outcome()) as Told;
}

async function commanded(name: 'capture' | 'void' | 'refund'): Promise<Ends> {
  const flow = name === 'refund' ? await charged() : await beginHeld(time);
  const { answer } = await flow.command(name, { commandId: 'one' });
  return async () => {
    await time.passUntil((await time.now()) + 2 * HOUR);
    return (await answer) as Told;
  };
}

async function charged() {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await flow.outcome();
  return await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
}

const OPERATIONS: readonly (readonly [path: string, begin: () => Promise<Ends>, succeeded: string])[] = [
  ['/charges', () => begun('charge'), 'succeeded'],
  ['/credits', () => begun('credit'), 'succeeded'],
  ['/authorizations', () => begun('authorizeAndCapture'), 'captured'],
  ['/captures', () => commanded('capture'), 'succeeded'],
  ['/voids', () => commanded('void'), 'succeeded'],
  ['/refunds', () => commanded('refund'), 'succeeded'],
];

describe.each(OPERATIONS)(
  'a failure at the provider while an earlier try of %s has had no answer',
  (path, begin, done) => {
    test('is asked for again under its key, and told as it ends', async () => {
      passages(path, stuck(130 * SECOND));
      await time.sandbox.addFault({ ...FAILED, path: `*${path}`, times: 1 });
      const ends = await begin();
      expect(await ends()).toMatchObject({ status: done });
    });

    test('is never confirmed by a read: that try may still move the money', async () => {
      passages(path, stuck(20 * MINUTE));
      await time.sandbox.addFault({ ...FAILED, path: `*${path}`, times: 5 });
      const ends = await begin();
      expect(await ends()).toMatchObject({ status: done });
    });

    test('is an unconfirmed decline after an hour', async () => {
      passages(path, stuck(130 * SECOND));
      await time.sandbox.addFault({ ...FAILED, path: `*${path}` });
      const begunAt = await time.now();
      const ends = await begin();
      await time.passUntil(begunAt + 50 * MINUTE);
      expect(await ends()).toMatchObject(UNCONFIRMED);
    });
  },
);

const network = async (times: number) =>
  await time.sandbox.addFault({ ...FAILED, category: 'provider_network_error', path: '*/charges', times });

test('a failure that a read has found, since no try was answered, is not confirmed by that read', async () => {
  passages('/charges', stuck(5 * MINUTE), { replyDelayMs: 50 * SECOND }, stuck(10 * MINUTE));
  await time.sandbox.addFault({ ...FAILED, path: '*/charges', times: 1 });
  expect(await (await begun('charge'))()).toMatchObject({ status: 'succeeded' });
});

test('a failure after what pended is not confirmed where a look has cut off the repeat before it', async () => {
  passages('/charges', {}, stuck(30 * MINUTE));
  await network(1);
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: '*/charges', times: 1 });
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await time.passUntil((await time.now()) + 5 * MINUTE);
  const [charge] = await time.sandbox.ledger(flow.reference);
  expect(charge?.status).toBe('Pending');
  await time.sandbox.complete(charge?.transaction_id ?? '', { status: 'Failed', category: 'provider_error' });
  expect(await flow.outcome()).not.toMatchObject(CONFIRMED);
});

test('a failure that answers a repeat is confirmed where every try before it was answered', async () => {
  await network(1);
  await time.sandbox.addFault({ ...FAILED, path: '*/charges', times: 1 });
  expect(await (await begun('charge'))()).toMatchObject(CONFIRMED);
});

test.each([200, 503])(
  'a failure that answers a repeat is not confirmed where the repeat before it has had no answer, and lists have %i',
  async (status) => {
    passages('/charges', {}, stuck(30 * MINUTE));
    await network(1);
    await time.sandbox.addFault({ ...FAILED, path: '*/charges', times: 3 });
    if (status !== 200) await time.sandbox.addFault(answers(status, 'GET', '*/charges'));
    expect(await (await begun('charge'))()).toMatchObject({ status: 'succeeded' });
  },
);

test('a failure that answers a repeat is not confirmed where a person has cut off the repeat before it', async () => {
  passages('/charges', {}, stuck(30 * MINUTE));
  await network(1);
  await time.sandbox.addFault({ ...FAILED, path: '*/charges', times: 3 });
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await time.passUntil(flow.startedAt + 20 * SECOND);
  await time.holdfast.retryNow(flow.reference);
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
});

test('what pends once it was asked for again is followed to its end where the service offers no read', async () => {
  passages('/charges', stuck(130 * SECOND));
  await time.sandbox.addFault({ ...FAILED, path: '*/charges', times: 1 });
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: '*/charges' });
  await time.sandbox.addFault(answers(405, 'GET', '*/charges*'));
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await time.passUntil(flow.startedAt + 3 * HOUR);
  const { status, transactionId = '' } = await flow.status();
  expect(status).toBe('pending');
  await flow.event({ eventType: 'payment.charge.update', transactionId, status: 'Succeed', amount: 6000 });
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
});

test('what pends by a read beside a repeat is believed, since no stored answer has said so', async () => {
  passages('/charges', stuck(20 * SECOND), { replyDelayMs: 50 * SECOND }, stuck(10 * MINUTE));
  await time.sandbox.addFault({ ...FAILED, path: '*/charges', times: 1 });
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: '*/charges' });
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await time.passUntil(flow.startedAt + 45 * SECOND);
  expect(await flow.status()).toMatchObject({ status: 'pending' });
});

test.each([
  ['within the hour is not confirmed', 10 * MINUTE, UNCONFIRMED],
  ['after hours is confirmed', 5 * HOUR, CONFIRMED],
] as const)('what an unanswered try has left pending, and fails %s', async (_how, after, told) => {
  passages('/charges', stuck(20 * SECOND));
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: '*/charges' });
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await time.passUntil(flow.startedAt + after);
  const { transactionId = '' } = await flow.status();
  await time.sandbox.complete(transactionId, { status: 'Failed' });
  expect(await flow.outcome()).toMatchObject(told);
});

test('a failure that the run before a reset has left is not confirmed: a try of that run may still arrive', async () => {
  passages('/charges', stuck(20 * MINUTE));
  await time.sandbox.addFault({ ...FAILED, path: '*/charges', times: 2 });
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await time.passUntil(flow.startedAt + MINUTE);
  await resetToFirstTask(time.client, flow.workflowId);
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
});

test('nor is that of a refund', async () => {
  passages('/refunds', stuck(20 * MINUTE));
  const fault = await time.sandbox.addFault({ ...FAILED, path: '*/refunds' });
  const flow = await charged();
  await flow.command('refund', { commandId: 'one' });
  await time.passUntil((await time.now()) + 3 * MINUTE);
  await resetToFirstTask(time.client, flow.workflowId);
  await time.passUntil((await time.now()) + MINUTE);
  await time.sandbox.removeFault(fault.id);
  await time.passUntil((await time.now()) + 2 * HOUR);
  const payment = { payment: flow.reference, businessUnit: 'default', currency: 'USD' };
  expect(await time.holdfast.refund({ payment, commandId: 'one' })).toMatchObject({ status: 'succeeded' });
});

test('nor is that of a void of what pends', async () => {
  const { lateCapture, resetBeforeTheVoid } = lateCaptures(time);
  const { actions, capture, voidAgain } = await lateCapture('allowed');
  await capture({});
  // Its first try arrives at once, and a proxy sends it on once more.
  passages('/voids', { fate: 'duplicate', repeatAfterMs: 20 * MINUTE });
  await time.sandbox.addFault({ ...FAILED, path: '*/voids', times: 1 });
  await actions.command('void', RELEASE);
  await time.passUntil((await time.now()) + 2 * SECOND);
  await resetBeforeTheVoid(actions.workflowId);
  await time.passUntil((await time.now()) + 2 * HOUR);
  expect(await voidAgain()).toMatchObject({ status: 'succeeded' });
});
