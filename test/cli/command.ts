import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, type CommandOptions } from '../../src/cli/command.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { temporalAddress } from '../support/temporal.js';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** The environment of a user whose Temporal is the shared one of the tests. */
export async function environmentOf(namespace: string): Promise<NodeJS.ProcessEnv> {
  return {
    TEMPORAL_ADDRESS: await temporalAddress(),
    TEMPORAL_NAMESPACE: namespace,
    HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
  };
}

/** A folder in which an `npm start` runs, with what it has written into its `run.json`. */
export function folderOfStack(content: object | string): string {
  const cwd = temporaryFolder();
  const stateDir = join(cwd, '.holdfast');
  mkdirSync(join(stateDir, 'keys'), { recursive: true });
  writeFileSync(join(stateDir, 'run.json'), typeof content === 'string' ? content : JSON.stringify(content));
  writeFileSync(join(stateDir, 'keys', 'encryption-keys'), TEST_ENCRYPTION_KEYS, { mode: 0o600 });
  return cwd;
}

/** Runs `holdfast` in this process, in a folder without a stack unless `cwd` names one. */
export async function holdfast(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  more: Partial<Pick<CommandOptions, 'cwd' | 'waitMs'>> = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCommand(args, {
    env,
    cwd: '/nowhere',
    print: (text) => void (out += text),
    printError: (text) => void (err += text),
    ...more,
  });
  return { code, out, err };
}
