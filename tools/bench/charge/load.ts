import { Client, Connection } from '@temporalio/client';
import { SandboxControl } from '../../../sandbox/control.js';
import { HoldfastClient } from '../../../src/client/holdfast-client.js';
import { createDataConverter } from '../../../src/security/data-converter.js';
import { parseKeyRing } from '../../../src/security/key-ring.js';
import type { BenchStack } from '../support/bench-stack.js';
import { percentile, runJobs } from '../support/stats.js';
import type { NaiveCharge } from './naive/activities.js';
import { NAIVE_TASK_QUEUE, type Variant } from './variants.js';

/** One variant on one stack, with a running worker. */
export interface Load {
  readonly client: Client;
  /** Sends charges and returns the ms that each took. Rejects if one does not succeed. */
  send(count: number, concurrency: number, label: string): Promise<number[]>;
  rssMb(): Promise<number>;
  close(): Promise<void>;
}

export interface Round {
  /** Charges per second at the given concurrency. */
  perSecond: number;
  /** Percentiles in ms of charges sent one after the other. */
  p50: number;
  p99: number;
}

export const CONCURRENCY = 32;
const SEQUENTIAL = 40;

/** @param env additional environment of the worker */
export async function openLoad(
  stack: BenchStack,
  variant: Variant,
  keys: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Load> {
  const connection = await Connection.connect({ address: stack.address });
  const client = clientOf(connection, variant, keys);
  const holdfast = new HoldfastClient(client);
  const sandbox = new SandboxControl(stack.sandboxUrl);
  const worker = await stack.startWorker(variant, env);
  const load: Load = {
    client,
    async send(count, concurrency, label) {
      const tokens = await Promise.all(Array.from({ length: count }, () => sandbox.tokenize('4111111111111111')));
      return await runJobs(count, concurrency, async (index) => {
        const reference = `${variant}-${label}-${index}`;
        const token = tokens[index]?.token ?? '';
        if (variant === 'naive') {
          const input: NaiveCharge = { reference, amount: 1095, currency: 'USD', token };
          await client.workflow.execute('naiveCharge', {
            workflowId: reference,
            taskQueue: NAIVE_TASK_QUEUE,
            args: [input],
          });
          return;
        }
        const paymentMethod = { type: 'tokenized', token } as const;
        const outcome = await holdfast.charge({ reference, amount: 1095, currency: 'USD', paymentMethod });
        if (outcome.status !== 'succeeded') throw new Error(`${reference}: ${outcome.status}`);
      });
    },
    rssMb: async () => Math.round((await worker.rss()) / 2 ** 20),
    close: async () => await connection.close(),
  };
  await load.send(32, 8, 'warm');
  return load;
}

export async function measureRound(load: Load, charges: number, round: number): Promise<Round> {
  const begun = performance.now();
  await load.send(charges, CONCURRENCY, `c${round}`);
  const perSecond = charges / ((performance.now() - begun) / 1000);
  const took = await load.send(SEQUENTIAL, 1, `s${round}`);
  return { perSecond, p50: percentile(took, 50), p99: percentile(took, 99) };
}

/** The median of each figure over all rounds. */
export function medianRound(rounds: readonly Round[]): Round {
  const middle = (figure: keyof Round): number =>
    percentile(
      rounds.map((round) => round[figure]),
      50,
    );
  return { perSecond: middle('perSecond'), p50: middle('p50'), p99: middle('p99') };
}

function clientOf(connection: Connection, namespace: Variant, keys: string): Client {
  if (namespace === 'naive') return new Client({ connection, namespace });
  const dataConverter = createDataConverter(parseKeyRing(keys));
  return new Client({ connection, namespace, dataConverter });
}

/** Fields of a history event that determine what Temporal Cloud bills for it. */
interface EventLike {
  workflowExecutionStartedEventAttributes?: unknown;
  timerStartedEventAttributes?: unknown;
  startChildWorkflowExecutionInitiatedEventAttributes?: unknown;
  activityTaskStartedEventAttributes?: { attempt?: number | null } | null;
  workflowExecutionSignaledEventAttributes?: unknown;
  workflowExecutionUpdateAcceptedEventAttributes?: unknown;
  upsertWorkflowSearchAttributesEventAttributes?: unknown;
  markerRecordedEventAttributes?: unknown;
  workflowTaskCompletedEventAttributes?: unknown;
}

/**
 * Counts the billable actions in a history: start, start of a child (beside the child's own), timer, each activity
 * attempt, signal, update, upsert, and one for all markers of a workflow task. Queries and heartbeats are not in it.
 */
export function billableActions(events: readonly EventLike[]): number {
  let actions = 0;
  let markersInTask = false;
  for (const event of events) {
    if (event.workflowTaskCompletedEventAttributes) markersInTask = false;
    if (event.markerRecordedEventAttributes) {
      if (!markersInTask) actions += 1;
      markersInTask = true;
    }
    if (event.activityTaskStartedEventAttributes) actions += event.activityTaskStartedEventAttributes.attempt ?? 1;
    const one =
      event.workflowExecutionStartedEventAttributes ??
      event.timerStartedEventAttributes ??
      event.startChildWorkflowExecutionInitiatedEventAttributes ??
      event.workflowExecutionSignaledEventAttributes ??
      event.workflowExecutionUpdateAcceptedEventAttributes ??
      event.upsertWorkflowSearchAttributesEventAttributes;
    if (one) actions += 1;
  }
  return actions;
}
