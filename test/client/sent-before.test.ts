import { readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, test } from 'vitest';
import { createEnginePort } from '../../src/client/engine-port.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { dataConverter, engineWith, type Run } from './engine-with.js';

const FILE = new URL('../replay/histories/authorize-reauthorized-then-captured.json', import.meta.url);
const history = historyFromJSON(JSON.parse(readFileSync(FILE, 'utf8')));
const flow = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? '';
const OWN: Run = { runId: 'own' };

const sentIn = async (runs: Run[], converter = dataConverter) =>
  await createEnginePort(engineWith(runs, converter, flow)).sentBefore(flow, 'own');

describe('what earlier runs have sent for their holds', () => {
  test('is told by operation and sequence, with the time of the first call', async () => {
    const { firstSent, isKept, cancelled, hasEnded } = await sentIn([OWN, { runId: 'a', history }]);
    expect([isKept, cancelled, hasEnded]).toEqual([true, false, true]);
    expect(Object.keys(firstSent)).toEqual(['void:1', 'createPayment:2', 'authorize:2', 'capture:1']);
    const times = Object.values(firstSent);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times[0]).toBeGreaterThan(Number(history.events?.[0]?.eventTime?.seconds) * 1000);
  });

  test('is told with the commands that they accepted, and whether these were answered', async () => {
    const { commands, firstSent } = await sentIn([OWN, { runId: 'a', history }]);
    const found = Object.values(commands);
    expect(found.map(({ name, answered }) => [name, answered])).toEqual([
      ['reauthorize', true],
      ['capture', true],
    ]);
    expect(found[0]?.at).toBeLessThan(firstSent['createPayment:2'] ?? 0);
    expect(found[1]?.at).toBeGreaterThan(firstSent['createPayment:2'] ?? Infinity);
    const open = { events: history.events?.filter((event) => !event.workflowExecutionUpdateCompletedEventAttributes) };
    const unanswered = await sentIn([OWN, { runId: 'a', history: open as typeof history }]);
    expect(Object.values(unanswered.commands).map(({ answered }) => answered)).toEqual([false, false]);
  });

  test('is told without an end where that of a run is none of its own', async () => {
    const events = history.events?.filter((event) => !event.workflowExecutionCompletedEventAttributes);
    const replaced = { events } as typeof history;
    expect(await sentIn([OWN, { runId: 'a', history: replaced }])).not.toHaveProperty('hasEnded');
  });

  test('is told with a cancel', async () => {
    const cancel = { eventTime: { seconds: 1 }, workflowExecutionCancelRequestedEventAttributes: {} };
    const events = [...(history.events ?? []), cancel] as typeof history.events;
    const runs = [OWN, { runId: 'a', history: { ...history, events } as typeof history }];
    expect((await sentIn(runs)).cancelled).toBe(true);
  });

  test('is told of the earliest of several runs', async () => {
    const later = historyFromJSON(JSON.parse(readFileSync(FILE, 'utf8')));
    for (const { eventTime } of later.events ?? [])
      if (eventTime) Object.assign(eventTime, { seconds: Number(eventTime.seconds) + 60 });
    const one = await sentIn([OWN, { runId: 'a', history }]);
    expect(await sentIn([OWN, { runId: 'b', history: later }, { runId: 'a', history }])).toEqual(one);
    expect((await sentIn([OWN, { runId: 'b', history: later }])).firstSent['void:1']).toBe(
      (one.firstSent['void:1'] ?? 0) + 60_000,
    );
  });

  test('is not known where no history of such a run is kept', async () => {
    expect(await sentIn([OWN])).toEqual({ firstSent: {}, commands: {}, cancelled: false, isKept: false });
  });

  test('is not said to be nothing where this worker lacks the key', async () => {
    const strange = createDataConverter(parseKeyRing(`other:${Buffer.alloc(32, 'other').toString('base64')}`));
    await expect(sentIn([OWN, { runId: 'a', history }], strange)).rejects.toThrow('unknown key id "golden"');
  });
});
