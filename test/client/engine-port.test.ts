import { readdirSync, readFileSync } from 'node:fs';
import { type History, historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { describe, expect, test } from 'vitest';
import { createEnginePort } from '../../src/client/engine-port.js';
import { markSealed } from '../../src/contract/payload-marks.js';
import { actionsSoFar } from '../../src/client/open-run.js';
import { latestRunOf } from '../../src/client/start-actions.js';
import { FIRST_TASK_MAX_EVENTS } from '../../src/contract/engine-port.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { dataConverter, engineWith, ID, type Run } from './engine-with.js';

const HISTORIES = new URL('../replay/histories/', import.meta.url);
const GOLDEN = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));
const golden = (name: string): History =>
  historyFromJSON(JSON.parse(readFileSync(new URL(name.endsWith('.json') ? name : `${name}.json`, HISTORIES), 'utf8')));

/** What the engine says of a workflow task that is under way. */
const described = (attempt: number | undefined, historyLength: unknown): object => ({
  workflowExecutionInfo: { historyLength },
  ...(attempt !== undefined && { pendingWorkflowTask: { attempt } }),
});

describe('whether a flow is in the first try of its first task', () => {
  test.each<[string, object, boolean]>([
    ['its first task, alone', described(1, 3), true],
    ['its first task, with two early messages', described(1, 5), true],
    ['its length as the wire gives it', described(1, { toString: () => '5', valueOf: () => 5 }), true],
    ['a later task', described(1, 6), false],
    ['a second try', described(2, 3), false],
    ['no task', described(undefined, 3), false],
    ['no length', described(1, undefined), false],
    ['no description of it', {}, false],
  ])('by %s', async (_what, description, isFirst) => {
    const port = createEnginePort(engineWith([{ runId: 'own', description }]));
    expect(await port.inFirstTry(ID, 'own')).toBe(isFirst);
  });

  test('is told by the number of the event that starts the task: in no recorded history could it be another one', () => {
    const wrong = GOLDEN.filter((name) => {
      const [first, ...later] = (golden(name).events ?? [])
        .filter((event) => event.workflowTaskStartedEventAttributes != null)
        .map(({ eventId }) => Number(eventId));
      const isFirst = (id: number | undefined): boolean => id !== undefined && id <= FIRST_TASK_MAX_EVENTS;
      return !isFirst(first) || later.some(isFirst);
    });
    expect(wrong).toEqual([]);
    expect(GOLDEN.length).toBeGreaterThan(100);
  });
});

describe('whether a flow is open, so that nobody acts in its place', () => {
  test.each([
    ['RUNNING', true],
    ['PAUSED', true],
    ['COMPLETED', false],
    ['TERMINATED', false],
  ])('which is %s', async (status, open) => {
    const client = engineWith([{ runId: 'own', status }]);
    expect(await createEnginePort(client).isOpen(ID)).toBe(open);
    expect(await latestRunOf(client, ID)).toMatchObject({ runId: 'own', isOpen: open });
  });
});

test('a run of commands that somebody has stopped does not hide what the one before it has done', async () => {
  const result = markSealed({ status: 'idle', actions: [{ action: 'refund' }] });
  const runs: Run[] = [
    { runId: 'second', status: 'TERMINATED', takesOver: 'first' },
    { runId: 'first', status: 'COMPLETED', result },
  ];
  expect(await actionsSoFar(engineWith(runs), ID, false)).toEqual(result);
});

describe('whether a task of a run was lost', () => {
  test.each([
    ['charge-after-a-killed-worker', true],
    ['charge-reset-to-its-first-task', true],
    ['charge-succeeded', false],
    ['charge-succeeded-after-503', false],
    ['authorize-captured-after-lost-replies', false],
  ])('is read from its history: %s', async (name, lost) => {
    const port = createEnginePort(engineWith([{ runId: 'own', history: golden(name) }]));
    expect(await port.taskWasLost(ID, 'own')).toBe(lost);
  });

  test('of the tasks up to an event alone', async () => {
    const history = golden('charge-after-a-killed-worker');
    const at = (history.events ?? []).find((event) => event.workflowTaskTimedOutEventAttributes != null)?.eventId;
    const port = createEnginePort(engineWith([{ runId: 'own', history }]));
    expect(await port.taskWasLost(ID, 'own', Number(at))).toBe(true);
    expect(await port.taskWasLost(ID, 'own', Number(at) - 1)).toBe(false);
  });
});

describe('an earlier run under the same id', () => {
  test.each<[string, Run[], string | undefined]>([
    ['there is none', [], undefined],
    ['a second start after the end of the first', [{ runId: 'before' }], 'before'],
    ['the run that a reset has made this one from', [{ runId: 'before', original: 'root' }], undefined],
    ['a later reset of the same', [{ runId: 'later', original: 'root' }], undefined],
    ['the run that has continued as this one', [{ runId: 'before', original: 'before', first: 'origin' }], undefined],
    [
      'another flow, behind a reset and a continued run of ours',
      [
        { runId: 'reset', original: 'root' },
        { runId: 'continued', first: 'origin' },
        { runId: 'another', original: 'x', first: 'y' },
      ],
      'another',
    ],
    ['the newest of two others', [{ runId: 'b' }, { runId: 'a' }], 'b'],
    ['one that visibility alone still knows', [{ runId: 'b', gone: true }, { runId: 'a' }], 'a'],
  ])('%s', async (_what, others, found) => {
    const own: Run = { runId: 'own', original: 'root', first: 'origin' };
    const port = createEnginePort(engineWith([own, ...others]));
    expect(await port.earlierRun(ID, 'own')).toBe(found);
  });
});

test.each<[string, Run[], boolean]>([
  ['is the first', [{ runId: 'own' }], false],
  ['was made by a reset', [{ runId: 'own', original: 'a', base: 'a' }, { runId: 'a' }], true],
  // It is taken up where the one before it waited, and nothing of that is done again.
  ['continues another', [{ runId: 'own', first: 'a', continues: 'a' }, { runId: 'a' }], false],
])('whether a run is one that a reset has made is told of one that %s', async (_what, runs, isReset) => {
  expect(await createEnginePort(engineWith(runs)).madeByReset(ID, 'own')).toBe(isReset);
});

describe('the payment that an earlier run has made', () => {
  const first = `${ID}:createPayment:1`;
  const second = `${ID}:createPayment:2`;
  /** The payments that a run's own result names: the last one, and those of holds that were reauthorized. */
  async function endOf(name: string): Promise<{ paymentId: string; amount: number; currency: string }> {
    const { events } = golden(name);
    const payload = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0];
    const { payloadCodecs, payloadConverter } = loadDataConverter(dataConverter);
    const [clear] = (await payloadCodecs[0]?.decode(payload ? [payload] : [])) ?? [];
    if (clear === undefined) throw new Error(`${name} has no result`);
    return payloadConverter.fromPayload(clear);
  }
  const foundIn = async (name: string, key?: string) =>
    await createEnginePort(engineWith([{ runId: 'own' }, { runId: 'a', history: golden(name) }])).earlierPayment(
      ID,
      'own',
      key,
    );

  test.each([
    ['a local try', 'charge-succeeded'],
    ['an activity, after a lost task', 'charge-after-a-killed-worker'],
    ['a call that was answered at last', 'charge-succeeded-after-503'],
    ['an authorization', 'authorize-captured'],
    ['a credit', 'credit-succeeded'],
  ])('by %s is found in the history of that run, with its sum and currency', async (_how, name) => {
    const { paymentId, amount, currency } = await endOf(name);
    expect(paymentId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await foundIn(name)).toMatchObject({ paymentId, amount, currency });
  });

  test('is told with the business unit that it was created under, which a risk analysis may have chosen', async () => {
    expect(await foundIn('authorize-captured')).toMatchObject({ businessUnit: 'default', holdMs: expect.any(Number) });
  });

  test('is told with the environment and app id that it was made under', async () => {
    const { payloadCodecs, payloadConverter } = loadDataConverter(dataConverter);
    const made = { paymentId: 'p', amount: 6_000, currency: 'USD', status: 'Initialized', madeUnder: 'live/shop-1' };
    const payloads = (await payloadCodecs[0]?.encode([payloadConverter.toPayload(made)])) ?? [];
    const events = [
      { eventId: 5, activityTaskScheduledEventAttributes: { activityType: { name: 'createPayment' } } },
      { eventId: 7, activityTaskCompletedEventAttributes: { scheduledEventId: 5, result: { payloads } } },
    ];
    const history = { events } as unknown as History;
    const port = createEnginePort(engineWith([{ runId: 'own' }, { runId: 'a', history }]));
    expect(await port.earlierPayment(ID, 'own')).toEqual(made);
  });

  test('is told apart by its key from the one that was made when the hold was reauthorized', async () => {
    const name = 'authorize-reauthorized-then-captured';
    const key = keyOf(name);
    const { paymentId } = await endOf(name);
    const [before, again] = await Promise.all([foundIn(name, key(1)), foundIn(name, key(2))]);
    expect(again?.paymentId).toBe(paymentId);
    expect(before?.paymentId).toMatch(/^[0-9a-f-]{36}$/);
    expect(before?.paymentId).not.toBe(paymentId);
    expect(await foundIn(name)).toEqual(before);
    // The first one is no stand-in for one that was never made.
    expect(await foundIn(name, key(3))).toBeUndefined();
  });

  test('is nowhere where none was made', async () => {
    expect(await foundIn('charge-not-executed-payment-never-created')).toBeUndefined();
    expect(await foundIn('charge-cancelled-before-anything')).toBeUndefined();
    expect(await foundIn('charge-succeeded', second)).toBeUndefined();
    expect(await createEnginePort(engineWith([{ runId: 'own' }])).earlierPayment(ID, 'own', first)).toBeUndefined();
  });

  test.each([
    ['the result of a local try', 'charge-succeeded', undefined],
    ['the result of an activity', 'charge-after-a-killed-worker', undefined],
    ['the call for a later payment', 'authorize-reauthorized-then-captured', 2],
  ])('is not said to be none where this worker lacks the key of %s', async (_what, name, sequence) => {
    const strange = createDataConverter(parseKeyRing(`other:${Buffer.alloc(32, 'other').toString('base64')}`));
    const port = createEnginePort(engineWith([{ runId: 'own' }, { runId: 'a', history: golden(name) }], strange));
    const key = sequence === undefined ? undefined : keyOf(name)(sequence);
    await expect(port.earlierPayment(ID, 'own', key)).rejects.toThrow('unknown key id "golden"');
  });

  test('is never taken from the own run', async () => {
    const own: Run = { runId: 'own', history: golden('charge-succeeded') };
    expect(await createEnginePort(engineWith([own])).earlierPayment(ID, 'own')).toBeUndefined();
  });
});

/** Of the flow that this history is of. */
function keyOf(name: string): (sequence: number) => string {
  const id = golden(name).events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  return (sequence) => `${id}:createPayment:${sequence}`;
}
