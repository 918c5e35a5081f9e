import type { Client } from '@temporalio/client';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import type { SentBefore } from '../contract/records.js';
import { eventsOf, otherRuns, runsBefore } from './earlier-runs.js';
import { decode, keyOf } from './ended-flow.js';

/** The activities by which a hold is followed, and replaced by the next one. */
const CALLS: ReadonlySet<unknown> = new Set([
  'createPayment',
  'createAuthorization',
  'createCapture',
  'createVoid',
  'createRefund',
]);
/** The updates by which a person or a service ends a hold. */
const COMMANDS: ReadonlySet<unknown> = new Set(['capture', 'void', 'reauthorize']);

type Event = Awaited<ReturnType<ReturnType<typeof eventsOf>['next']>>['value'] extends infer Found
  ? Exclude<Found, void | undefined>
  : never;

/** What the runs before this one have sent and been told for their holds, from their histories. */
export async function sentBefore(client: Client, workflowId: string, ownRunId: string): Promise<SentBefore> {
  const before = await runsBefore(client, workflowId, ownRunId);
  const { runs } = await otherRuns(client, workflowId, ownRunId);
  const reading = new Reading(client.options.loadedDataConverter, workflowId);
  for (const runId of new Set([...before, ...runs])) {
    for await (const event of eventsOf(client, workflowId, runId)) await reading.note(event);
  }
  return reading.found();
}

class Reading {
  readonly #firstSent: Record<string, number> = {};
  readonly #commands: Record<string, { name: string; at: number; answered: boolean }> = {};
  /** Command ids by update id. */
  readonly #updates = new Map<string, string>();
  #cancelled = false;
  #hasEnded = false;
  #isKept = false;

  constructor(
    readonly converter: LoadedDataConverter,
    readonly workflowId: string,
  ) {}

  /** @throws Error if this process can't decode a call or a command: "not sent" could authorize a second time */
  async note(event: Event): Promise<void> {
    this.#isKept = true;
    const at = Number(event.eventTime?.seconds) * 1000 + Math.floor((event.eventTime?.nanos ?? 0) / 1e6);
    const call = event.activityTaskScheduledEventAttributes;
    if (CALLS.has(call?.activityType?.name)) await this.#noteCall(call?.input?.payloads?.[0], at);
    const { acceptedRequest } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {};
    const request = acceptedRequest ?? event.workflowExecutionUpdateAdmittedEventAttributes?.request;
    const { name, args } = request?.input ?? {};
    if (COMMANDS.has(name))
      await this.#noteCommand({
        name: name ?? '',
        updateId: request?.meta?.updateId ?? '',
        args: args?.payloads?.[0],
        at,
      });
    const answered = event.workflowExecutionUpdateCompletedEventAttributes?.meta?.updateId;
    const command = this.#commands[this.#updates.get(answered ?? '') ?? ''];
    if (command !== undefined) command.answered = true;
    if (event.workflowExecutionCancelRequestedEventAttributes) this.#cancelled = true;
    if (event.workflowExecutionCompletedEventAttributes) this.#hasEnded = true;
  }

  async #noteCall(payload: Payload | undefined, at: number): Promise<void> {
    const key = keyOf(await decode(payload, this.converter));
    if (typeof key !== 'string' || !key.startsWith(`${this.workflowId}:`)) return;
    const call = key.slice(this.workflowId.length + 1);
    this.#firstSent[call] = Math.min(at, this.#firstSent[call] ?? Number.POSITIVE_INFINITY);
  }

  async #noteCommand(given: { name: string; updateId: string; args: Payload | undefined; at: number }): Promise<void> {
    const { name, updateId, at } = given;
    const { commandId, reference } = ((await decode(given.args, this.converter)) ?? {}) as Record<string, unknown>;
    const id = [commandId, reference, updateId].find((each) => typeof each === 'string') as string;
    this.#updates.set(updateId, id);
    const known = this.#commands[id];
    this.#commands[id] = {
      name,
      at: Math.min(at, known?.at ?? Number.POSITIVE_INFINITY),
      answered: known?.answered ?? false,
    };
  }

  found(): SentBefore {
    return {
      firstSent: this.#firstSent,
      commands: this.#commands,
      cancelled: this.#cancelled,
      ...(this.#hasEnded && { hasEnded: true as const }),
      isKept: this.#isKept,
    };
  }
}
