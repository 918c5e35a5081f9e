import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { type Backup, restoreBackup, takeBackup } from '../engine/backup.js';
import type { SimulatedTime } from '../simulated-time.js';
import { beginFlow, DAY, type FlowType, HOUR } from './context.js';

/** A backup of the engine's database, and when it was made (epoch ms). */
export interface Taken {
  at: number;
  backup: Backup;
}

export const taken = (time: SimulatedTime): Taken => ({ at: Date.now(), backup: takeBackup(time.simulation.engine) });

export interface Restoring {
  /** How long nothing runs, ms. */
  downFor?: number;
  /** Workers are given what the service says of the lost time. */
  statement?: boolean;
}

/** Everything is killed, and what the engine has done since the backup is lost. */
export async function restore(
  time: SimulatedTime,
  { at, backup }: Taken,
  { downFor = 0, statement = false }: Restoring = {},
): Promise<void> {
  const { simulation } = time;
  await time.passUntil(at + 1_000);
  for (const worker of simulation.workers) worker.kill();
  const lost = `${iso(at)},${iso(Date.now())}`;
  restoreBackup(simulation.engine, backup);
  await time.passUnserved(Date.now() + downFor);
  const file = statement ? { HOLDFAST_RESTORED_STATEMENT_FILE: await statementFile(time) } : {};
  simulation.startWorker({ env: { HOLDFAST_RESTORED_TO: lost, ...file } });
}

const iso = (at: number): string => new Date(at).toISOString();

/** The service's ledger as a statement that covers the last 100 days. */
export async function statementFile({ sandbox }: Pick<SimulatedTime, 'sandbox'>): Promise<string> {
  const rows = (await sandbox.ledger()).filter(({ reconciliation_id: id }) => id !== null);
  return fileOf([{ covers: `${iso(Date.now() - 100 * DAY)},${iso(Date.now())}` }, ...rows]);
}

/** A file of JSON lines. */
export function fileOf(rows: readonly object[]): string {
  const path = join(temporaryFolder(), 'lines.jsonl');
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

/** One backup of each state that the engine's database has until the work is done: the first has nothing of it. */
async function backedUp(time: SimulatedTime, work: () => Promise<unknown>): Promise<Taken[]> {
  const states = [taken(time)];
  const timer = setInterval(() => {
    const next = taken(time);
    if ([...next.backup.values()].join() !== [...(states.at(-1)?.backup.values() ?? [])].join()) states.push(next);
  }, 1);
  await work();
  clearInterval(timer);
  return [...states, taken(time)];
}

export interface EndedFlow {
  input: { reference: string };
  status: string;
  /** Every state that the database had meanwhile; the first has nothing of the flow. */
  states: Taken[];
}

/** Runs a flow from its start to its end. */
export async function endedFlow(time: SimulatedTime, type: FlowType, input: { reference: string }): Promise<EndedFlow> {
  let status = '';
  const states = await backedUp(time, async () => {
    ({ status } = (await (await beginFlow(time, type, input)).outcome()) as { status: string });
  });
  return { input, status, states };
}

export const isIn = ({ backup }: Taken, { reference }: { reference: string }): boolean =>
  [...backup.keys()].some(({ start }) => start.workflowId.endsWith(`-${reference}`));

/** Asks for the flow as its caller does. */
export async function askFor({ holdfast }: SimulatedTime, type: FlowType, input: object): Promise<{ status: string }> {
  const asks: { readonly [Type in FlowType]: () => Promise<{ status: string }> } = {
    charge: () => holdfast.charge(input as never),
    authorizeAndCapture: () => holdfast.authorize(input as never),
    credit: () => holdfast.credit(input as never),
    storeCard: () => holdfast.storeCard(input as never),
    analyseRisk: () => holdfast.analyseRisk(input as never),
  };
  return await asks[type]();
}

/** Asks for the flow until it has ended, or nobody but an operator can end it. */
export async function askUntilKnown(time: SimulatedTime, type: FlowType, input: object): Promise<string> {
  const { status } = await askFor(time, type, input);
  if (status !== 'unknown') return status;
  await time.passUntil(Date.now() + 2 * HOUR);
  return (await askFor(time, type, input)).status;
}
