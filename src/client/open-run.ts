import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { commandSequence } from '../contract/idempotency.js';
import { UPDATE_NAMES } from '../contract/names.js';
import type { PaymentActivities } from '../contract/activities.js';
import {
  type ActionRecord,
  type ActionsSoFar,
  type ActionsBefore,
  KEPT_ACTIONS,
  PAYMENT_ACTIONS,
} from '../contract/payment-actions.js';
import type { PaymentAndTransactions, TransactionRecord } from '../contract/records.js';
import { AcceptedUpdates } from './accepted-updates.js';
import { eventsOf, described, latestResult } from './earlier-runs.js';
import { decode, requireDecoded } from './ended-flow.js';

/** What the open run of a flow has got from the service and has told, read from its history: no worker is asked. */
export interface OpenRun {
  /** Results of its calls, answers to its commands, and what the run before has left, as JSON. */
  shown: string;
  result: ActionsSoFar;
}

const COMMANDS: ReadonlySet<string> = new Set(PAYMENT_ACTIONS);
const SETTLE: string = UPDATE_NAMES.settleManually;
const ACTIONS_BEFORE: keyof PaymentActivities = 'findActionsBefore';
const READ_ALL: keyof PaymentActivities = 'getPaymentAndTransactions';
const CREATES: ReadonlySet<string> = new Set(['createRefund', 'createCapture', 'createVoid']);

/** A command that was accepted. */
interface Given {
  name: string;
  updateId: string | undefined;
  request: unknown;
}

/** @throws Error without the key: what can't be read would look as if the flow did not know it */
export async function openRunOf(client: Client, workflowId: string): Promise<OpenRun> {
  const run = await described(client, workflowId, undefined);
  const shown: string[] = [];
  const result: ActionsSoFar = { actions: [], made: [] };
  const { actions, made } = result;
  const noteEarlier = (earlier: unknown): void => {
    const list = actionsOf(earlier);
    actions.push(...list);
    if (list.length >= KEPT_ACTIONS) result.mayLackEarlier = true;
  };
  const updates = new AcceptedUpdates();
  /** Names by the id of the event that scheduled or accepted it. */
  const calls = new Map<string, string>();
  const commands = new Map<string, Given>();
  const read = async (payload: Payload | null | undefined): Promise<unknown> => {
    const value = await decode(payload ?? undefined, client.options.loadedDataConverter);
    if (value !== undefined) shown.push(JSON.stringify(value));
    return value;
  };
  if (run === undefined) return { shown: '', result };
  for await (const event of eventsOf(client, workflowId, run.runId)) {
    const id = String(event.eventId);
    const carried = event.workflowExecutionStartedEventAttributes?.input?.payloads?.[1];
    if (carried) {
      const { state } = ((await read(carried)) ?? {}) as { state?: unknown };
      noteEarlier(state);
      // Of a command that was under way when the run before ended: nobody may have asked for its answer again.
      made.push(...idOf(state));
    }
    const call = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (call) calls.set(id, call);
    const done = event.activityTaskCompletedEventAttributes;
    if (done) {
      const answer = await read(done.result?.payloads?.[0]);
      const name = calls.get(String(done.scheduledEventId)) ?? '';
      if (name === ACTIONS_BEFORE) noteEarlier((answer as Partial<ActionsBefore> | undefined)?.result);
      // Its command may have been answered before, or by a run of before.
      const found = name === READ_ALL ? transactionsOf(answer) : answer;
      made.push(...(CREATES.has(name) ? idOf(answer) : idsUnderKey(workflowId, found)));
    }
    for (const { payloads } of Object.values(event.markerRecordedEventAttributes?.details ?? {}))
      for (const payload of payloads ?? [])
        made.push(...idsUnderKey(workflowId, await read(payload).catch(() => undefined)));
    const accepted = updates.acceptedBy(event);
    // What was asked for is not shown: it may name transactions of others.
    if (accepted && (COMMANDS.has(accepted.name) || accepted.name === SETTLE)) {
      const { name, updateId, argument } = accepted;
      commands.set(id, { name, updateId, request: await decode(argument, client.options.loadedDataConverter) });
    }
    const answered = event.workflowExecutionUpdateCompletedEventAttributes;
    const answer = answered && (await read(answered.outcome?.success?.payloads?.[0]));
    const command = commands.get(String(answered?.acceptedEventId));
    if (command === undefined || answer === undefined) continue;
    if (command.name === SETTLE) made.push(...saidToBeMade(command.request));
    else actions.push({ action: command.name, ...sentBy(command), outcome: answer } as unknown as ActionRecord);
  }
  return { shown: shown.join('\n'), result };
}

/** What its operation was sent with. */
function sentBy({ request, updateId }: Given): Partial<ActionRecord> {
  const { commandId, reference } = (request ?? {}) as { commandId?: unknown; reference?: unknown };
  const named = commandId ?? reference ?? updateId;
  return {
    ...(typeof named === 'string' && { key: `:${commandSequence(named)}` }),
    ...(typeof reference === 'string' && { reference }),
  };
}

/** By an operator, of the operation that was under way. */
function saidToBeMade(request: unknown): string[] {
  const { status } = (request ?? {}) as { status?: unknown };
  return status === 'succeeded' ? idOf(request) : [];
}

function idOf(value: unknown): string[] {
  const { transactionId } = (value ?? {}) as { transactionId?: unknown };
  return typeof transactionId === 'string' ? [transactionId] : [];
}

/** Of what a read shows: those that this flow has sent, maybe in a run of before. */
function idsUnderKey(workflowId: string, answer: unknown): string[] {
  const records = (Array.isArray(answer) ? answer : [answer]) as { holdfastKey?: unknown }[];
  const isOurs = (key: unknown): boolean => typeof key === 'string' && key.startsWith(`${workflowId}:`);
  return records.filter((record) => isOurs(record?.holdfastKey)).flatMap(idOf);
}

function transactionsOf(answer: unknown): TransactionRecord[] {
  const { lists = {} } = (answer ?? {}) as Partial<PaymentAndTransactions>;
  return Object.values(lists).flat();
}

function actionsOf(value: unknown): ActionRecord[] {
  const { actions } = (value ?? {}) as { actions?: unknown };
  return Array.isArray(actions) ? (actions as ActionRecord[]) : [];
}

/** What the runs of a flow of commands have done. One that was stopped has no result: that of the run before it stands. */
export async function actionsSoFar(client: Client, workflowId: string, isOpen: boolean): Promise<unknown> {
  if (isOpen) return (await openRunOf(client, workflowId)).result;
  return requireDecoded((await latestResult(client, workflowId)).result);
}
