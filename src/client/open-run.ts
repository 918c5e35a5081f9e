import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { ActionRecord } from '../contract/payment-actions.js';
import { eventsOf, described } from './earlier-runs.js';
import { decode } from './ended-flow.js';

/** What the open run of a flow has got from the service and has told, read from its history: no worker is asked. */
export interface OpenRun {
  /** Results of its calls, answers to its commands, and what the run before has left, as JSON. */
  shown: string;
  /** Its commands so far, in the form of a result. */
  result: { actions: ActionRecord[] };
}

const COMMANDS: ReadonlySet<string> = new Set(['refund', 'capture', 'void']);
const EARLIER_ACTIONS = 'findEarlierActions';

/** @throws Error without the key: what can't be read would look as if the flow did not know it */
export async function openRunOf(client: Client, workflowId: string): Promise<OpenRun> {
  const run = await described(client, workflowId, undefined);
  const shown: string[] = [];
  const actions: ActionRecord[] = [];
  /** Names by the id of the event that scheduled or accepted it. */
  const calls = new Map<string, string>();
  const commands = new Map<string, string>();
  const read = async (payload: Payload | null | undefined): Promise<unknown> => {
    const value = await decode(payload ?? undefined, client.options.loadedDataConverter);
    if (value !== undefined) shown.push(JSON.stringify(value));
    return value;
  };
  if (run === undefined) return { shown: '', result: { actions } };
  for await (const event of eventsOf(client, workflowId, run.runId)) {
    const id = String(event.eventId);
    const carried = event.workflowExecutionStartedEventAttributes?.input?.payloads?.[1];
    if (carried) actions.push(...actionsOf(((await read(carried)) as { state?: unknown } | undefined)?.state));
    const call = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (call) calls.set(id, call);
    const done = event.activityTaskCompletedEventAttributes;
    if (done) {
      const result = await read(done.result?.payloads?.[0]);
      if (calls.get(String(done.scheduledEventId)) === EARLIER_ACTIONS) actions.push(...actionsOf(result));
    }
    for (const { payloads } of Object.values(event.markerRecordedEventAttributes?.details ?? {}))
      for (const payload of payloads ?? []) await read(payload).catch(() => undefined);
    const name = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name ?? '';
    if (COMMANDS.has(name)) commands.set(id, name);
    const answered = event.workflowExecutionUpdateCompletedEventAttributes;
    const answer = answered && (await read(answered.outcome?.success?.payloads?.[0]));
    const command = commands.get(String(answered?.acceptedEventId));
    if (command !== undefined && answer !== undefined)
      actions.push({ action: command, outcome: answer } as unknown as ActionRecord);
  }
  return { shown: shown.join('\n'), result: { actions } };
}

function actionsOf(value: unknown): ActionRecord[] {
  const { actions } = (value ?? {}) as { actions?: unknown };
  return Array.isArray(actions) ? (actions as ActionRecord[]) : [];
}
