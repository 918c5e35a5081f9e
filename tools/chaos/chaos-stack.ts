import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCodecConfig, loadConfig, type Config } from '../../src/config/index.js';
import { childEnv } from '../stack/ready-process.js';
import { claimRunFile } from '../stack/run-file.js';
import { PORTS, readSettings, type StackSettings } from '../stack/settings.js';
import { Stack } from '../stack/stack.js';
import { businessUnitsSetting, unitsOf, unitsWithOperator, type ProfileUnit } from '../stack/profile-units.js';
import type { ChaosArguments } from './arguments.js';
import { unitsForScenarios } from './campaign.js';

/** Duration in ms of a `Pending` charge. It is short, so that many end while the faults last. */
const PENDING_MS = 1_000;

/**
 * Ports below the range of outgoing connections: otherwise a client could take a server's port while that server is
 * down.
 */
const LOWEST_PORT = 21_000;
const PORT_RANGE = 10_000;

/** A stack for a single run. */
export interface ChaosStack {
  stack: Stack;
  settings: StackSettings;
  config: Config;
  /** Business units that its processes know. They are not yet registered with the sandbox. */
  units: readonly ProfileUnit[];
  /** Business units that flows are started with. */
  askedUnits: readonly ProfileUnit[];
  /** Folder of the logs and the databases. */
  stateDir: string;
  /** Deletes all files of the run. */
  discard(): void;
}

/** Prepares the stack without starting it. Ignores the `HOLDFAST_` and `TEMPORAL_` variables of the shell. */
export async function prepareChaosStack(options: {
  env: NodeJS.ProcessEnv;
  temporalPath: string;
  say: (line: string) => void;
  args: Pick<ChaosArguments, 'flows' | 'profiles' | 'until'>;
}): Promise<ChaosStack> {
  const { flows, profiles, until } = options.args;
  const askedUnits = flows === 'mixed' ? unitsWithOperator(profiles) : unitsOf(profiles);
  const units = flows === 'mixed' ? unitsForScenarios(askedUnits, until) : askedUnits;
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'));
  const inherited = Object.entries(options.env).filter(([name]) => !/^(HOLDFAST|TEMPORAL)_/.test(name));
  const own = {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(Object.values(PORTS).map(({ setting }) => [setting, somePort()])),
    HOLDFAST_LOG_LEVEL: 'warn',
    // So high that it never delays a bill.
    HOLDFAST_BILLING_CALLS_PER_SECOND: '1000',
    HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(units),
    HOLDFAST_SANDBOX_PENDING_MS: String(PENDING_MS),
  };
  const settings = await readSettings(own, stateDir);
  const env = childEnv(settings, own);
  const stack = new Stack({
    settings,
    uiCapability: loadCodecConfig(env).codecUiCapability,
    temporalPath: options.temporalPath,
    env,
    runFile: await claimRunFile(stateDir, options.say),
    say: options.say,
    ownGroups: true,
  });
  return {
    stack,
    settings,
    config: loadConfig(env),
    units,
    askedUnits,
    stateDir,
    discard: () => rmSync(stateDir, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** If the port is taken, `readSettings` chooses a free one. */
function somePort(): string {
  return String(LOWEST_PORT + Math.floor(Math.random() * PORT_RANGE));
}
