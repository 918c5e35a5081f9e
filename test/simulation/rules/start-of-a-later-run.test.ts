import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import type { Event } from '../engine/shapes.js';
import { resolveWorkflowId } from '../../../src/contract/names.js';
import { beginHeld, beginHold } from '../../support/virtual-flows.js';
import { plant, signalEvent } from '../../time/checks.js';
import { DAY, followPending, HOUR, inputOf, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

/** The flow whose next run is waited for. */
let watched: { workflowId: string; runs: number; reached: () => void } | undefined;
const time = sharedTime({}, { suggestRunAfter: () => 12, latency: (hop) => (hop === 'dispatch' ? dispatchMs() : 1) });

/** ms that a task takes to its worker: the first one of the next run so long that a message overtakes it. */
function dispatchMs(): number {
  if (watched === undefined || runsOf(watched.workflowId).length === watched.runs) return 1;
  watched.reached();
  watched = undefined;
  return 5 * SECOND;
}

const runsOf = (workflowId: string) =>
  [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === workflowId);
/** With the number that the run has given to a timer: one that is begun and ended in the same task uses up a number. */
function kindOf(event: Event): string {
  const kind = Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? '';
  const number = event.timerStartedEventAttributes?.timerId;
  return [kind.replace('EventAttributes', ''), ...(number ? [number] : [])].join(' ');
}
const NOT_BY_THE_FLOW = /^(workflowTask|activityTaskStarted|workflowExecutionSignaled|timerFired)/;

/**
 * Gives a message that comes with the start of a later run: its first task has both.
 * @returns what that task has recorded, in order
 */
async function firstTaskWith(workflowId: string, give: () => Promise<unknown>): Promise<string[]> {
  const runs = runsOf(workflowId).length;
  let given: Promise<unknown> | undefined;
  const reached = (): void => {
    given = Promise.resolve().then(give);
  };
  watched = { workflowId, runs, reached };
  while (given === undefined) await time.passUntil((await time.now()) + HOUR);
  await given;
  const kinds = runsOf(workflowId)[runs]?.events.map(kindOf) ?? [];
  const recorded = kinds.slice(kinds.indexOf('workflowTaskCompleted') + 1);
  return recorded.slice(
    0,
    recorded.findIndex((kind) => NOT_BY_THE_FLOW.test(kind)),
  );
}

const pends = (path: string): FaultInput => ({ action: 'result', status: 'Pending', path });
const HANDLED = ['workflowExecutionUpdateAccepted', 'workflowExecutionUpdateCompleted'];

/**
 * No golden history is a later run of a payment, and the order in which a run records what it does may not change: a
 * flow that waits would never replay again.
 */
describe('what a later run records of a message that comes with its start, and of what it does then', () => {
  // First: while it waits for hours, what the others leave pending would be polled.
  test('`retryNow` to a hold', async () => {
    const { workflowId, reference } = await beginHeld(time);
    const recorded = await firstTaskWith(workflowId, () => time.holdfast.retryNow(reference, OPERATOR));
    expect(recorded).toEqual([HANDLED[0], 'activityTaskScheduled']);
  });

  test('`retryNow` to a charge that pends', async () => {
    const input = await time.input();
    await plant(time, input, pends('*/charges'));
    const { workflowId, startedAt } = await time.start(input);
    await time.passUntil(startedAt + MINUTE);
    const recorded = await firstTaskWith(workflowId, () => time.holdfast.retryNow(input.reference, OPERATOR));
    expect(recorded).toEqual([...HANDLED, 'activityTaskScheduled']);
  });

  test('`retryNow` to an authorization that pends', async () => {
    const { workflowId, reference, startedAt } = await beginHold(time, {}, { faults: [pends('*/authorizations')] });
    await time.passUntil(startedAt + MINUTE);
    const recorded = await firstTaskWith(workflowId, () => time.holdfast.retryNow(reference, OPERATOR));
    expect(recorded).toEqual([...HANDLED, 'activityTaskScheduled']);
  });

  test('an event to a flow that follows a foreign charge: it begins no timer before it has taken the event', async () => {
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const input = await inputOf(time, 'charge');
    const transactionId = await followPending(time, 'charge');
    const workflowId = resolveWorkflowId(transactionId);
    const startedAt = await time.now();
    const { paymentId = '' } = await time.holdfast.status({ workflowId });
    const event = { paymentId, transactionId, status: 'Pending' } as const;
    const recorded = await firstTaskWith(workflowId, () =>
      signalEvent(time, { input, workflowId, startedAt } as never, event),
    );
    expect(recorded).toEqual(['timerStarted 1']);
  });
});
