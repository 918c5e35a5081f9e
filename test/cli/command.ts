import { runCommand, type CommandOptions } from '../../src/cli/command.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
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
