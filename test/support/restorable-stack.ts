import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer } from '../../tools/stack/dev-server.js';
import { businessUnitsSetting, type ProfileUnit } from '../../tools/stack/profile-units.js';
import { holdfast } from '../cli/command.js';
import { TEST_ENCRYPTION_KEYS } from './data-converter.js';
import { startStack, type TestStack } from './stack.js';
import { temporalCliPath } from './temporal.js';
import { until } from './until.js';

const NAMESPACE = 'restored';

/** A line of `holdfast redrive --json`. */
interface Told {
  result: string;
  reference: string;
  outcome?: { status?: string };
}

interface Redriven {
  code: number;
  err: string;
  /** By reference. */
  told: Told[];
}

/** A stack on a Temporal server of its own, whose database can be copied and put back. */
export interface RestorableStack {
  readonly stack: TestStack;
  /** With everything stopped, the folder of the database is copied. Resolves with when, epoch ms. */
  backUp: () => Promise<number>;
  /** Everything is killed, and the folder put back; no worker runs. Resolves with when the last had gone, epoch ms. */
  killAndRestore: () => Promise<number>;
  /** Runs `holdfast redrive`. A worker that has just started may not have polled yet: that is waited for. */
  redrive: (file: string, ...args: string[]) => Promise<Redriven>;
  /** Path of a file beside the backup. */
  pathOf: (name: string) => string;
  /** Writes a file of JSON lines beside the backup, and returns its path. */
  write: (name: string, rows: readonly object[]) => string;
  close: () => Promise<void>;
}

export async function startRestorable(units: readonly ProfileUnit[]): Promise<RestorableStack> {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-restore-'));
  const backup = `${root}-backup`;
  const server = await startDevServer({ executable: temporalCliPath(), folder: root, namespaces: [NAMESPACE] });
  const stack = await startStack({
    real: true,
    billing: true,
    webhook: false,
    pendingMs: 1_000,
    units: units.slice(1),
    temporal: { address: server.address, namespace: NAMESPACE },
    workerEnv: { HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(units) },
  }).catch(async (error: unknown) => {
    await server.kill();
    throw error;
  });

  async function killAll(): Promise<number> {
    await stack.worker().kill();
    await server.kill();
    return Date.now();
  }
  async function askOnce(file: string, args: readonly string[]): Promise<Redriven> {
    const env = {
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_NAMESPACE: NAMESPACE,
      HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
    };
    const { code, out, err } = await holdfast(env, ['redrive', file, '--json', '--rate', '20', ...args]);
    const told = out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Told);
    return { code, err, told: told.toSorted((one, other) => (one.reference < other.reference ? -1 : 1)) };
  }
  const pathOf = (name: string): string => join(backup, name);
  return {
    stack,
    async backUp() {
      const at = await killAll();
      cpSync(root, backup, { recursive: true });
      await server.start();
      await stack.startWorker();
      return at;
    },
    async killAndRestore() {
      const at = await killAll();
      rmSync(root, { recursive: true });
      cpSync(backup, root, { recursive: true });
      await server.start();
      return at;
    },
    redrive: async (file, ...args) =>
      await until(
        () => askOnce(file, args),
        ({ err }) => !err.includes('no worker polls'),
        60_000,
      ),
    pathOf,
    write(name, rows) {
      writeFileSync(pathOf(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      return pathOf(name);
    },
    async close() {
      await stack.worker().kill();
      await stack.close();
      await server.kill();
      for (const folder of [root, backup]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
