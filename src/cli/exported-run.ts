import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { AcceptedUpdates } from '../client/accepted-updates.js';
import { unlessGone } from '../client/earlier-runs.js';
import { UPDATE_NAMES } from '../contract/names.js';
import { Decoder } from './decode.js';

/** A command as it was given, and what became of it. */
interface ExportedCommand {
  /** ISO 8601 UTC. */
  at: string;
  /** Name of the update, or `cancel`, `terminate`, `reset`. */
  name: string;
  id?: string;
  /** As it was given, with `who` and `why`. */
  request?: unknown;
  /** Of `cancel` and `terminate`: the client that asked. */
  by?: string;
  why?: string;
  answer?: unknown;
  refused?: string;
}

/** One line of an export: a run that has ended. */
export interface ExportedRun {
  workflowId: string;
  runId: string;
  /** The same for all runs of one flow, also after a reset. */
  firstRunId?: string;
  type: string;
  /** How Temporal sees it, such as `COMPLETED` or `CONTINUED_AS_NEW`. */
  execution: string;
  startedAt: string;
  closedAt: string;
  input?: unknown;
  result?: unknown;
  failure?: string;
  commands: ExportedCommand[];
  /** Values that could not be decoded: their key is lacking. */
  undecoded?: number;
}

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** ms. */
const READ_MS = 60_000;

/** Secrets of a card payment: useless as evidence, and not to be kept. */
const LEFT_OUT: ReadonlySet<string> = new Set(['encryptedCvv', 'threeDSecureAttributes']);

type Listed = Pick<ExportedRun, 'workflowId' | 'runId' | 'type' | 'execution' | 'startedAt' | 'closedAt'>;

/** Reads a run's history. undefined: Temporal no longer keeps it. */
export async function exportedRun(client: Client, listed: Listed): Promise<ExportedRun | undefined> {
  const handle = client.workflow.getHandle(listed.workflowId, listed.runId);
  const history = await unlessGone(() => client.withDeadline(Date.now() + READ_MS, () => handle.fetchHistory()));
  if (history === undefined) return undefined;
  const reader = new RunReader(new Decoder(client), listed);
  for (const event of history.events ?? []) await reader.read(event);
  return reader.run;
}

class RunReader {
  readonly run: ExportedRun;
  readonly #decoder: Decoder;
  readonly #updates = new AcceptedUpdates();
  /** By the id of the event that accepted it. */
  readonly #commands = new Map<string, ExportedCommand>();

  constructor(decoder: Decoder, listed: Listed) {
    this.#decoder = decoder;
    this.run = { ...listed, commands: [] };
  }

  async read(event: Event): Promise<void> {
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      if (started.firstExecutionRunId) this.run.firstRunId = started.firstExecutionRunId;
      // A second argument is what the run before has handed on, which has a line of its own.
      this.run.input = await this.#value(started.input?.payloads?.[0]);
    }
    await this.#command(event);
    await this.#end(event);
  }

  async #command(event: Event): Promise<void> {
    const at = timeOf(event);
    const accepted = this.#updates.acceptedBy(event);
    // Questions change nothing.
    if (accepted && accepted.name !== UPDATE_NAMES.outcome) {
      const request = await this.#value(accepted.argument);
      const command = { at, name: accepted.name, id: accepted.updateId ?? '', request };
      this.#commands.set(String(event.eventId), command);
      this.run.commands.push(command);
    }
    const completed = event.workflowExecutionUpdateCompletedEventAttributes;
    const command = this.#commands.get(String(completed?.acceptedEventId));
    if (completed && command) {
      const { success, failure } = completed.outcome ?? {};
      if (success) command.answer = await this.#value(success.payloads?.[0]);
      const refused = await this.#decoder.failure(failure);
      if (refused !== undefined) command.refused = refused;
    }
    const cancelled = event.workflowExecutionCancelRequestedEventAttributes;
    if (cancelled) this.#fromOutside(at, 'cancel', cancelled.identity, cancelled.cause);
    const reset = event.workflowTaskFailedEventAttributes?.failure;
    if (reset?.resetWorkflowFailureInfo) this.#fromOutside(at, 'reset', undefined, reset.message);
  }

  async #end(event: Event): Promise<void> {
    const completed = event.workflowExecutionCompletedEventAttributes;
    if (completed) this.run.result = await this.#value(completed.result?.payloads?.[0]);
    const failed = event.workflowExecutionFailedEventAttributes;
    if (failed) this.run.failure = (await this.#decoder.failure(failed.failure)) ?? '';
    const terminated = event.workflowExecutionTerminatedEventAttributes;
    if (terminated) this.#fromOutside(timeOf(event), 'terminate', terminated.identity, terminated.reason);
  }

  #fromOutside(at: string, name: string, by: string | null | undefined, why: string | null | undefined): void {
    this.run.commands.push({ at, name, ...(by && { by }), ...(why && { why }) });
  }

  async #value(payload: Payload | null | undefined): Promise<unknown> {
    if (payload == null) return undefined;
    const value = await this.#decoder.value(payload);
    if (value === undefined) this.run.undecoded = (this.run.undecoded ?? 0) + 1;
    return withoutSecrets(value);
  }
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !LEFT_OUT.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutSecrets(inner)]));
}

function timeOf({ eventTime }: Event): string {
  return new Date(Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6)).toISOString();
}
