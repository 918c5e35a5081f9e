import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { SandboxControl } from '../../../sandbox/control.js';
import { addUnits, businessUnitsSetting, PLAIN_UNIT } from '../../stack/profile-units.js';
import type { BenchStack } from '../support/bench-stack.js';
import { cpuMs, memoryMb } from '../support/process-cost.js';
import { benchUnit, pay, tokensFor } from '../support/payments.js';
import { type Percentiles, percentile, percentilesOf, runJobs } from '../support/stats.js';
import type { NaiveCharge } from './naive/activities.js';
import { NAIVE_TASK_QUEUE, type Variant } from './variants.js';

export const PROCESSES = ['Temporal', 'worker', 'handler', 'sandbox', 'client'] as const;
type ProcessName = (typeof PROCESSES)[number];

/** What charges are sent to. */
export interface Sender {
  /**
   * Sends charges whose references begin with `<name>-<label>-`.
   * @throws Error if one does not succeed
   */
  send(count: number, concurrency: number, label: string): Promise<Sent>;
}

/** One variant on one stack, with a running worker and, for the events, a webhook handler. */
export interface Load extends Sender {
  readonly client: Client;
  readonly sandbox: SandboxControl;
  workerMb(): number;
}

interface Sent {
  /** ms that each charge took. */
  took: number[];
  /** ms until the last charge had ended and the last event was acknowledged. */
  ms: number;
  /** CPU time in ms that each process used meanwhile. NaN where the system does not tell. */
  cpu: Record<ProcessName, number>;
}

/** The percentiles are of a charge. */
export interface Figures extends Percentiles {
  /** Charges per second at the concurrency of the leg. */
  perSecond: number;
  /** CPU time in ms per charge in that leg. */
  cpu: Record<ProcessName, number>;
}

interface LoadOptions {
  /** File of the worker below `dist/`, if not the variant's own. */
  program?: string;
  env?: Readonly<Record<string, string>>;
  /** Default: named as the variant. */
  namespace?: string;
  /** How many processes. Default 1. */
  workers?: number;
}

export async function openLoad(
  stack: BenchStack,
  variant: Variant,
  { program, env = {}, namespace = variant, workers: count = 1 }: LoadOptions = {},
): Promise<Load> {
  const { temporal, holdfast } = await stack.connect(namespace);
  const { sandbox } = stack;
  // Nothing of the baseline is encrypted.
  const client = variant === 'naive' ? new Client({ connection: temporal.connection, namespace }) : temporal;
  // Its events are sent to the handler of this namespace alone.
  const unit = variant === 'events' ? { ...benchUnit(namespace), name: PLAIN_UNIT.name } : PLAIN_UNIT;
  const own = { namespace, env: { ...env, HOLDFAST_BUSINESS_UNITS: businessUnitsSetting([unit]) } };
  const handler = variant === 'events' ? await stack.start('workers/webhook.js', own) : undefined;
  if (handler !== undefined) await addUnits(sandbox, [unit], new URL('/webhooks', handler.url).href);
  const usual = variant === 'naive' ? 'tools/bench/charge/worker.js' : 'workers/worker.js';
  const workers: number[] = [];
  while (workers.length < count) {
    const { process: worker } = await stack.start(program ?? usual, { args: [variant], ...own });
    workers.push(worker.pid ?? 0);
  }
  const pids: Record<ProcessName, readonly number[]> = {
    Temporal: [stack.pids.temporal],
    worker: workers,
    handler: handler === undefined ? [] : [handler.process.pid ?? 0],
    sandbox: [stack.pids.sandbox],
    client: [process.pid],
  };

  const charge = async (reference: string, token = ''): Promise<void> => {
    if (variant === 'naive') {
      const input: NaiveCharge = { reference, amount: 6_000, currency: 'USD', token };
      const how = { workflowId: reference, taskQueue: NAIVE_TASK_QUEUE, args: [input] };
      await client.workflow.execute('naiveCharge', how);
      return;
    }
    await pay(holdfast, reference, token);
  };
  const sender = await warmSender(variant, {
    tokens: (number) => tokensFor(sandbox, number, unit.publicKey),
    charge,
    cpu: (name) => pids[name].reduce((sum, pid) => sum + cpuMs(pid), 0),
    ...(handler !== undefined && { ended: () => allAcknowledged(sandbox) }),
  });
  return { ...sender, client, sandbox, workerMb: () => memoryMb(workers[0] ?? 0) };
}

interface Sending {
  tokens(count: number): Promise<string[]>;
  /** @throws Error if it does not succeed */
  charge(reference: string, token: string | undefined): Promise<void>;
  /** CPU time in ms that it has used so far. */
  cpu(name: ProcessName): number;
  /** Resolves when the leg has ended, if that is not the answer to its last charge. */
  ended?(): Promise<void>;
}

/** Has sent some charges already, as the first ones are slow. */
export async function warmSender(name: string, sending: Sending): Promise<Sender> {
  const cpu = (process: ProcessName): number => sending.cpu(process);
  const sender: Sender = {
    async send(count, concurrency, label) {
      const made = await sending.tokens(count);
      const before = mapProcesses(cpu);
      const begun = performance.now();
      const took = await runJobs(count, concurrency, (index) => {
        return sending.charge(`${name}-${label}-${index}`, made[index]);
      });
      await sending.ended?.();
      const ms = performance.now() - begun;
      const after = mapProcesses(cpu);
      return { took, ms, cpu: mapProcesses((process) => after[process] - before[process]) };
    },
  };
  await sender.send(32, 8, 'warm');
  return sender;
}

async function allAcknowledged(sandbox: SandboxControl): Promise<void> {
  while ((await sandbox.deliveries({ status: 'pending' })).length > 0) await sleep(50);
}

export const CONCURRENCY = 32;

export async function measure(load: Sender, count: number, concurrency: number, label: string): Promise<Figures> {
  const { took, ms, cpu } = await load.send(count, concurrency, label);
  return {
    perSecond: (count * 1000) / ms,
    ...percentilesOf(took),
    cpu: mapProcesses((name) => cpu[name] / count),
  };
}

/** One leg at `CONCURRENCY`, and one of charges sent one after the other. */
export interface Round {
  together: Figures;
  alone: Figures;
}

export const SEQUENTIAL = 40;

export async function measureRound(
  load: Sender,
  charges: number,
  round: number,
  sequential = SEQUENTIAL,
): Promise<Round> {
  const together = await measure(load, charges, CONCURRENCY, `c${round}`);
  return { together, alone: await measure(load, sequential, 1, `s${round}`) };
}

export function medianRound(rounds: readonly Round[]): Round {
  return {
    together: medianOf(rounds.map(({ together }) => together)),
    alone: medianOf(rounds.map(({ alone }) => alone)),
  };
}

/** Cells of a table by which one stack is compared with another: charges per second, and the median ms of one alone. */
export function comparedCells(own: Round, base: Round): string[] {
  return [
    own.together.perSecond.toFixed(1),
    (own.together.perSecond / base.together.perSecond).toFixed(2),
    own.alone.p50.toFixed(1),
    (own.alone.p50 / base.alone.p50).toFixed(2),
  ];
}

/** The median of each figure over all legs. */
export function medianOf(legs: readonly Figures[]): Figures {
  const middle = (figure: (leg: Figures) => number): number => percentile(legs.map(figure), 50);
  return {
    perSecond: middle((leg) => leg.perSecond),
    p50: middle((leg) => leg.p50),
    p99: middle((leg) => leg.p99),
    cpu: mapProcesses((name) => middle((leg) => leg.cpu[name])),
  };
}

/** How many charges of the namespace ran a workflow task again because it was lost or its end was refused. */
export async function tasksRunAgain(client: Client): Promise<{ charges: number; again: number }> {
  const { count: charges } = await client.workflow.count('WorkflowType = "charge"');
  let again = 0;
  // The shortest charge has ten events, and a task that runs again adds three.
  for await (const { workflowId } of client.workflow.list({
    query: 'WorkflowType = "charge" AND HistoryLength > 12',
  })) {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    if (events?.some((event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes))
      again += 1;
  }
  return { charges, again };
}

function mapProcesses(value: (name: ProcessName) => number): Record<ProcessName, number> {
  return Object.fromEntries(PROCESSES.map((name) => [name, value(name)])) as Record<ProcessName, number>;
}
