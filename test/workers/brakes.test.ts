import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { BRAKES_MEMO, type Brakes } from '../../src/contract/brakes.js';
import { markSealed } from '../../src/contract/payload-marks.js';
import { createLogger } from '../../src/security/logging.js';
import { watchBrakes } from '../../workers/brakes.js';
import { until } from '../support/until.js';

const BRAKED: Brakes = {
  braked: [{ businessUnit: 'shop', who: 'Ada', why: 'charges twice', since: '2027-01-31T10:00:00.000Z' }],
  changes: [],
};

/** A worker's brakes on a Temporal that answers with `memo`, or not at all. */
async function watched(memo: unknown, status = 'RUNNING') {
  const temporal = {
    memo,
    status,
    asked: 0,
    started: [] as unknown[],
    ended: [] as unknown[],
    inClear: false,
    ours: 'a',
    /** The memo of ours in a list that is read after it was described. */
    listed: undefined as unknown,
  };
  /** Ours is run "a" at first. */
  const getHandle = (_id: string, runId = temporal.inClear ? 'b' : temporal.ours) => ({
    describe: async () => {
      temporal.asked += 1;
      if (temporal.memo instanceof Error) throw temporal.memo;
      const kept = runId !== 'b' ? markSealed(temporal.memo) : { braked: [], changes: [] };
      return { runId, memo: { [BRAKES_MEMO]: kept }, status: { name: temporal.status } };
    },
    terminate: async () => void temporal.ended.push(runId),
  });
  const start = async (_type: string, options: unknown) => {
    temporal.started.push(options);
    temporal.status = 'RUNNING';
    temporal.inClear = false;
    temporal.ours = 'd';
    if (temporal.ended.includes('c')) temporal.memo = (options as { args: [Brakes] }).args[0];
  };
  async function* list() {
    yield { runId: 'b', startTime: new Date(2), memo: { [BRAKES_MEMO]: { braked: [], changes: [] } } };
    if (temporal.memo instanceof Error) throw temporal.memo;
    const ours = markSealed(temporal.listed ?? temporal.memo);
    yield { runId: temporal.ours, startTime: new Date(1), memo: { [BRAKES_MEMO]: ours } };
  }
  const client = {
    withDeadline: (_at: number, ask: () => unknown) => ask(),
    workflow: { getHandle, start, list },
  };
  const lines: string[] = [];
  const waits: (readonly string[])[] = [];
  const watching = watchBrakes(client as unknown as Client, {
    logger: createLogger({ name: 'worker', stream: { write: (line) => void lines.push(line) } }),
    businessUnits: ['default'],
    stopping: new AbortController().signal,
    waiting: (reasons) => void waits.push(reasons),
    everyMs: 5,
  });
  return { temporal, lines, waits, watching };
}

test('a worker does not begin before it knows which units are braked', async () => {
  const { temporal, waits, watching } = await watched(new Error('it is away'));
  await until(
    async () => temporal.asked,
    (asked) => asked > 2,
  );
  expect(waits[0]).toEqual([expect.stringContaining("can't be read, and nothing is sent before: it is away")]);
  temporal.memo = BRAKED;
  const brakes = await watching;
  expect(brakes.brakeOf('shop')).toEqual(BRAKED.braked[0]);
  expect(brakes.brakeOf('default')).toBeUndefined();
  expect(waits.at(-1)).toEqual([]);
  await brakes.close();
});

test('what it has read last counts while nothing can be read, which is said once', async () => {
  const { temporal, lines, watching } = await watched(BRAKED);
  const brakes = await watching;
  // Without the key a memo is what the converter leaves in its place.
  for (const away of [new Error('it is away'), { holdfastUndecodable: 'no key' }]) {
    temporal.memo = away;
    const { asked } = temporal;
    await until(
      async () => temporal.asked,
      (now) => now > asked + 2,
    );
    expect(brakes.brakeOf('shop')).toBeDefined();
  }
  expect(lines.filter((line) => line.includes('what was read last counts'))).toHaveLength(1);
  temporal.memo = { braked: [], changes: [] };
  await until(
    async () => brakes.brakeOf('shop'),
    (brake) => brake === undefined,
  );
  expect(lines.some((line) => line.includes('"businessUnit":"shop"') && line.includes('is released'))).toBe(true);
  await brakes.close();
  const { asked } = temporal;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(temporal.asked).toBe(asked);
});

test('a flow of brakes that somebody has ended is begun again: the namespace forgets what has ended, and with it the brake', async () => {
  const { temporal, watching } = await watched(BRAKED, 'TERMINATED');
  const brakes = await watching;
  await until(
    async () => temporal.asked,
    (asked) => asked > 3,
  );
  await brakes.close();
  expect(temporal.started).toMatchObject([
    { workflowId: 'brakes', args: [BRAKED], memo: { [BRAKES_MEMO]: BRAKED }, workflowIdConflictPolicy: 'USE_EXISTING' },
  ]);
  const none = await watched({ braked: [], changes: [] }, 'TERMINATED');
  const released = await none.watching;
  await released.close();
  expect(none.temporal.started).toEqual([]);
});

test('one that somebody without our keys has begun in its place is ended and said, and the brakes of before count', async () => {
  const { temporal, lines, watching } = await watched(BRAKED);
  const brakes = await watching;
  temporal.inClear = true;
  await until(
    async () => temporal.started.length,
    (started) => started > 0,
  );
  expect(brakes.brakeOf('shop')).toBeDefined();
  expect(temporal.ended).toEqual(['b']);
  expect(temporal.started).toMatchObject([{ args: [BRAKED] }]);
  expect(lines.filter((line) => line.includes('Run b of workflow'))).toHaveLength(1);
  await brakes.close();
});

test('what a worker knows counts against a flow of brakes that was set back, or is gone', async () => {
  const at = '2027-01-31T10:00:00.000Z';
  const known: Brakes = {
    ...BRAKED,
    changes: [{ did: 'brake', at, businessUnit: 'shop', who: 'Ada', why: 'charges twice' }],
  };
  const { temporal, lines, watching } = await watched(known);
  const brakes = await watching;
  temporal.memo = { braked: [], changes: [] };
  temporal.ours = 'c';
  await until(
    async () => temporal.started.length,
    (started) => started > 0,
  );
  expect(temporal.ended).toEqual(['c']);
  expect(lines.filter((line) => line.includes('was set back'))).toHaveLength(1);
  temporal.memo = new WorkflowNotFoundError('gone', 'brakes', undefined);
  await until(
    async () => temporal.started.length,
    (started) => started > 1,
  );
  expect(temporal.started).toMatchObject([{ args: [known] }, { args: [known] }]);
  expect(brakes.brakeOf('shop')).toBeDefined();
  await brakes.close();
});

test('a run that is braked between two looks of one worker was not set back: it is left to go on with what it takes', async () => {
  const { temporal, watching } = await watched(BRAKED);
  const brakes = await watching;
  const change = { did: 'brake', at: '2027-01-31T11:00:00.000Z', businessUnit: 'shop', who: 'Eve', why: 'again' };
  temporal.listed = { ...BRAKED, changes: [change] };
  temporal.ours = 'e';
  const { asked } = temporal;
  await until(
    async () => temporal.asked,
    (now) => now > asked + 3,
  );
  await brakes.close();
  expect(temporal).toMatchObject({ ended: [], started: [] });
});
