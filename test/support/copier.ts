import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';

export type HistoryEvent = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>[number];

/** The first payload that `of` finds in the history of a flow. */
export async function payloadIn(
  { workflow }: Client,
  workflowId: string,
  of: (event: HistoryEvent) => Payload[] | null | undefined,
): Promise<Payload> {
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  const [payload] = events?.flatMap((event) => of(event) ?? []) ?? [];
  if (payload === undefined) throw new Error(`${workflowId} has no such payload`);
  return payload;
}

export const callOf = (name: string) => (event: HistoryEvent) => {
  const call = event.activityTaskScheduledEventAttributes;
  return call?.activityType?.name === name ? call.input?.payloads : undefined;
};

/** For the events of one history, in their order. */
export function resultOf(name: string): (event: HistoryEvent) => Payload[] | null | undefined {
  const scheduled = new Set<string>();
  return (event) => {
    if (callOf(name)(event)) scheduled.add(String(event.eventId));
    const done = event.activityTaskCompletedEventAttributes;
    return done && scheduled.has(String(done.scheduledEventId)) ? done.result?.payloads : undefined;
  };
}

/**
 * Whoever can write to Temporal and has none of our keys, and sends a payload of ours in the place of every value. What
 * it gets is decoded, for the test.
 */
export function copierOf({ connection, options }: Client, payload: Payload): Client {
  const [ours] = options.loadedDataConverter.payloadCodecs;
  const decode: NonNullable<typeof ours>['decode'] = async (payloads, context) =>
    (await ours?.decode(payloads, context)) ?? [];
  const payloadCodecs = [{ encode: async () => [payload], decode }];
  return new Client({ connection, namespace: options.namespace, dataConverter: { payloadCodecs } });
}
