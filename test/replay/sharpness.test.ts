import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTurn } from '../support/counts.js';
import { bundlePath } from '../support/temporal.js';
import { alter, textIn } from './altered.js';
import { CHANGES } from './changes.js';
import { commandsOf, withPlaceholders } from './conform.js';
import type { HistoryEvent } from './decode.js';
import { type Golden, goldenNames, readGolden, replayGolden } from './golden.js';
import { unexplained } from './manifest.js';
import { type Runtime, workflowRuntime } from './runtime.js';

/** Text that stands in the payloads of a history, and what is put there: as if the code had said something else then. */
type Fault = [what: string, history: string, attributes: keyof HistoryEvent, from: string, to: string, path: RegExp];

const FAULTS: Fault[] = [
  [
    'the amount of a capture',
    'authorize-captured-in-part',
    'activityTaskScheduledEventAttributes',
    '"amount":6000',
    '"amount":1',
    /input.*amount: recorded 1, now 6000/,
  ],
  [
    'the key of a capture',
    'authorize-captured',
    'activityTaskScheduledEventAttributes',
    ':capture:1',
    ':capture:2',
    /input\[0\]\.key: recorded ".*:capture:2", now ".*:capture:1"/,
  ],
  [
    'the currency of a payment',
    'charge-after-a-killed-worker',
    'workflowExecutionCompletedEventAttributes',
    '"USD"',
    '"EUR"',
    /currency: recorded "EUR", now "USD"/,
  ],
  [
    'how a hold ended',
    'authorize-captured',
    'workflowExecutionCompletedEventAttributes',
    '"captured"',
    '"voided"',
    /complete result\.status: recorded "voided", now "captured"/,
  ],
  [
    'what a caller was told',
    'authorize-captured',
    'workflowExecutionUpdateCompletedEventAttributes',
    '"authorized"',
    '"voided"',
    /completeUpdate result\.status: recorded "voided", now "authorized"/,
  ],
  [
    'a search attribute',
    'charge-after-a-killed-worker',
    'upsertWorkflowSearchAttributesEventAttributes',
    '"',
    '"x',
    /searchAttributes .*: recorded "x/,
  ],
  [
    'what the next run is given',
    'subscription-billed-goes-on',
    'workflowExecutionContinuedAsNewEventAttributes',
    '"EUR"',
    '"USD"',
    /continueAsNew .*: recorded "USD", now "EUR"/,
  ],
  [
    'what a child is given',
    'subscription-billed-goes-on',
    'startChildWorkflowExecutionInitiatedEventAttributes',
    '"amount":6000',
    '"amount":600',
    /child input\[0\]\.amount: recorded 600, now 6000/,
  ],
];

describe('a golden history notices', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await workflowRuntime(bundlePath());
  });
  afterAll(async () => {
    await runtime?.close();
  });

  test.each(FAULTS)('%s', async (_what, history, attributes, from, to, path) => {
    const golden = await readGolden(history);
    const event = golden.history.events?.find((one) => one[attributes] && textIn(one[attributes]).includes(from));
    expect(event).toBeDefined();
    alter(event?.[attributes], from, to);
    const complaints = await complaintsOf(golden);
    expect(complaints).toMatch(path);
    expect(complaints).toContain(`${history}, event ${String(event?.eventId)} `);
  });

  test('the length of a timer', async () => {
    const golden = await readGolden('authorize-captured');
    const timer = golden.history.events?.find(
      (event) => event.timerStartedEventAttributes,
    )?.timerStartedEventAttributes;
    Object.assign(timer?.startToFireTimeout ?? {}, { nanos: 1_000_000 });
    expect(await complaintsOf(golden)).toMatch(/timer ms: recorded \d+, now \d+/);
  });

  test('a time-out and a retry policy of an activity', async () => {
    const golden = await readGolden('authorize-captured');
    const activity = golden.history.events?.find((event) => event.activityTaskScheduledEventAttributes);
    const { heartbeatTimeout, retryPolicy } = activity?.activityTaskScheduledEventAttributes ?? {};
    Object.assign(heartbeatTimeout ?? {}, { nanos: 1_000_000 });
    Object.assign(retryPolicy ?? {}, { maximumAttempts: 9 });
    expect(await complaintsOf(golden)).toMatch(
      /heartbeatTimeout: recorded \d+, now \d+[^]*retry\.maximumAttempts: recorded 9, now undefined/,
    );
  });

  test('the amount, the currency and the key that a local activity was given', async () => {
    const golden = await readGolden('charge-after-a-killed-worker');
    const locals = JSON.stringify(golden.locals)
      .replace('"amount":1095', '"amount":1')
      .replace('"USD"', '"EUR"')
      .replace(':createPayment:1', ':createPayment:2');
    const altered = { ...golden, locals: JSON.parse(locals) as Golden['locals'] };
    expect(await complaintsOf(altered)).toMatch(/input\[0\]\.payment\.amount: recorded 1, now 1095/);
    expect(await complaintsOf(altered)).toMatch(/input\[0\]\.payment\.currency: recorded "EUR", now "USD"/);
    expect(await complaintsOf(altered)).toMatch(/input\[0\]\.key: recorded ".*:createPayment:2"/);
  });

  test('what the code asks for besides, and what it no longer asks for', async () => {
    const golden = await readGolden('charge-after-a-killed-worker');
    const events = golden.history.events ?? [];
    const without = (kind: keyof HistoryEvent): Golden => ({
      ...golden,
      history: { events: events.filter((event) => !event[kind]) },
    });
    expect(await complaintsOf(without('workflowExecutionCompletedEventAttributes'))).toMatch(
      /the code asks for complete .*, and the history holds no such event/,
    );
    const again = events.findIndex((event) => event.upsertWorkflowSearchAttributesEventAttributes);
    expect(
      await complaintsOf({ ...golden, history: { events: events.toSpliced(again, 0, events[again] as HistoryEvent) } }),
    ).toMatch(/records searchAttributes .*, and the code asks for/);
  });

  test('a change that is said to be meant and does not show', async () => {
    const golden = await readGolden('authorize-captured');
    const change = { history: 'authorize-captured', event: 5, path: 'input[0].amount', now: 1, why: '' };
    expect((await replayGolden(runtime, golden, [...CHANGES, change])).complaints).toEqual([
      'authorize-captured, event 5: input[0].amount no longer differs, as a change says',
    ]);
  });

  async function complaintsOf(golden: Golden): Promise<string> {
    return (await replayGolden(runtime, golden, [])).complaints.join('\n');
  }
});

describe('a recording that is made again', () => {
  const [old, now] = ['a'.repeat(64), 'b'.repeat(64)];
  const there = new Map([['histories/one.json', now]]);

  test('is a fault unless its new checksum follows the old one, below the reason', () => {
    expect(unexplained(`${now}  histories/one.json\n`, there)).toEqual([]);
    expect(unexplained(`${old}  histories/one.json\n`, there)).toHaveLength(1);
    expect(unexplained(`${old}  histories/one.json\n${now}  histories/one.json\n`, there)).toHaveLength(1);
    expect(unexplained(`${old}  histories/one.json\n# why\n${now}  histories/one.json\n`, there)).toEqual([]);
  });

  test('is a fault when it is new and not written down, or gone', () => {
    expect(unexplained('', there)).toHaveLength(1);
    expect(unexplained(`${old}  histories/two.json\n${now}  histories/one.json\n`, there)).toEqual([
      'histories/two.json is gone',
    ]);
  });
});

describe('the commands of two runs are compared', () => {
  test('by what they say and not by the ids and moments of the day', async () => {
    const taken = inTurn(6);
    for (const name of goldenNames().filter((_name, index) => taken(index))) {
      const { history, locals } = await readGolden(name);
      const commands = commandsOf(history, locals);
      const another = JSON.parse(
        JSON.stringify(commands).replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}(?=\W)/g, (found) =>
          found.replaceAll(/[0-9a-f]/g, (digit) => ((parseInt(digit, 16) + 1) % 16).toString(16)),
        ),
      ) as typeof commands;
      expect(withPlaceholders(another), name).toEqual(withPlaceholders(commands));
    }
  });

  test('and differ where one takes an id that it should not', () => {
    const one = (id: string) => [
      { kind: 'timer' as const, content: { id: '3f1f1c1e-1111-4222-8333-444455556666' } },
      { kind: 'timer' as const, content: { id } },
    ];
    expect(withPlaceholders(one('3f1f1c1e-1111-4222-8333-444455556666'))).not.toEqual(
      withPlaceholders(one('4f1f1c1e-1111-4222-8333-444455556666')),
    );
  });
});
