import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { type Backup, restoreBackup, takeBackup } from '../engine/backup.js';
import type { SimulatedTime } from '../simulated-time.js';
import { DAY } from './context.js';

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
