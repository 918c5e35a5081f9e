import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { describe, expect, test } from 'vitest';
import { ranFirstTaskAgain, withoutKnownToPeople } from '../../tools/audit/flow-health.js';
import { explainParked } from '../../workflows/parked/handlers.js';

const PAYMENT = 'c1c9c634-bd57-4be4-9eca-daa4ee9311bd';
const OTHER = 'd2d9c634-bd57-4be4-9eca-daa4ee9311bd';

type Reason = 'unknownTransaction' | 'contradictsResult' | 'flowNotFound';

/** As the flow of a parked event explains itself. */
const says = (paymentId: string, reason: Reason): string =>
  explainParked({
    event: { eventType: 'payment.void.create', paymentId, created: '2026-11-25T18:41:35.399Z' },
    reason,
    workflowId: `payment-actions-${paymentId}`,
    attempts: 3,
  } as Parameters<typeof explainParked>[0]);

function engineWith(explained: Readonly<Record<string, string>>): Client {
  return {
    withDeadline: async (_until: number, ask: () => Promise<unknown>) => await ask(),
    workflow: { getHandle: (id: string) => ({ query: async () => explained[id] ?? 'it waits' }) },
  } as unknown as Client;
}

test('an event of what a person did in the back office is known to people; all other open flows are not', async () => {
  const engine = engineWith({
    'parked-event-known': says(PAYMENT, 'unknownTransaction'),
    'parked-event-contradicts': says(PAYMENT, 'contradictsResult'),
    'parked-event-nowhere': says(PAYMENT, 'flowNotFound'),
    'parked-event-other': says(OTHER, 'unknownTransaction'),
    'payment-order-1': says(PAYMENT, 'unknownTransaction'),
  });
  const all = [
    'parked-event-known',
    'parked-event-contradicts',
    'parked-event-nowhere',
    'parked-event-other',
    'payment-order-1',
  ];
  expect(await withoutKnownToPeople(engine, all, new Set([PAYMENT]))).toEqual(all.slice(1));
  expect(await withoutKnownToPeople(engine, all, new Set())).toEqual(all);
});

describe('whether the first task of a run ran again because of a message', () => {
  const { WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND: refused, WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW: reset } =
    proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
  const failed = (cause: number) => ({ workflowTaskFailedEventAttributes: { cause } });
  const completed = { workflowTaskCompletedEventAttributes: {} };

  test.each<[string, object[], boolean]>([
    ['its end was refused', [{}, failed(refused), completed], true],
    ['it ended', [{}, completed], false],
    ['a later one was refused', [{}, completed, failed(refused)], false],
    ['a reset went back to it', [{}, failed(reset), completed], false],
    ['it has not ended', [{}], false],
  ])('%s', (_what, events, again) => {
    expect(ranFirstTaskAgain(events)).toBe(again);
  });
});
