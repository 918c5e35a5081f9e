import { environmentNamed } from '../client/environment-mark.js';
import { setUpNamespace } from '../client/set-up-namespace.js';
import type { Request } from './arguments.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { asJson, asLines } from './table.js';

interface Output {
  env: NodeJS.ProcessEnv;
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** `holdfast setup`. Resolves with the exit code: 1 if a worker could not work in the namespace yet. */
export async function setUp(
  { connection, address, namespace }: Engine,
  { retentionDays, json }: Extract<Request, { command: 'setup' }>,
  { env, print, printError }: Output,
): Promise<number> {
  const environment = environmentOf(env);
  const { changed, byHand, faults } = await setUpNamespace(connection, namespace, environment, retentionDays);
  if (json) print(asJson({ namespace, address, environment, changed, byHand, faults }));
  else {
    const nothing = faults.length === 0 ? ['nothing was to be changed'] : [];
    print(
      asLines([
        `Namespace "${namespace}" at ${address}, environment "${environment}":`,
        ...(changed.length === 0 ? nothing : changed).map((each) => `- ${each}`),
        '- schedules: this version of Holdfast has none',
        ...(faults.length === 0 ? ['Workers can start.'] : []),
      ]),
    );
    if (byHand.length > 0) printError(['To be done by hand:', ...byHand, ''].join('\n'));
    if (faults.length > 0) printError(['Workers can not start yet:', ...faults, ''].join('\n'));
  }
  return faults.length === 0 ? 0 : 1;
}

/** The same default as that of every process. */
function environmentOf(env: NodeJS.ProcessEnv) {
  try {
    return environmentNamed(env['HOLDFAST_ENVIRONMENT'] ?? '') ?? 'test';
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError(error.message);
    throw error;
  }
}
