import { setTimeout as sleep } from 'node:timers/promises';
import { listenForInterruption, type Interruption } from '../stack/interruption.js';
import { parseArguments, type ChaosArguments } from './arguments.js';
import { runCampaign } from './run.js';
import { prepareChaosStack, type ChaosStack } from './chaos-stack.js';
import { summaryLines, violations } from './summary.js';

export interface ChaosOptions {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  temporalPath: string;
}

/** Errors whose message is sufficient. A stack trace would only hide it. */
const EXPLAINED = new Set(['ArgumentError', 'BootError', 'ConfigError', 'NamespaceError']);

/** ms to wait, before a boot error is reported, for a Ctrl-C that reaches this process later than its children. */
const CTRL_C_MS = 250;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs `npm run chaos` after set-up. Resolves with the exit code once everything has stopped. */
export async function runChaos({ args, env, temporalPath }: ChaosOptions): Promise<number> {
  try {
    const wanted = parseArguments(args);
    let endedByThemselves = 0;
    const say = (line: string): void => {
      endedByThemselves += line.includes(' ended (') ? 1 : 0;
      print(`  ${line}`);
    };
    const own = await prepareChaosStack({ env, temporalPath, say, args: wanted });
    return await serve(own, wanted, () => endedByThemselves);
  } catch (error) {
    printError(explain(error));
    return 1;
  }
}

async function serve(own: ChaosStack, wanted: ChaosArguments, endedByThemselves: () => number): Promise<number> {
  const { stack } = own;
  let faulty = false;
  const onFault = (error: unknown): void => {
    faulty = true;
    printError(`A fault that nothing caught; the run ends: ${explain(error)}`);
  };
  const insist = (): void => {
    printError(`Killing what is left. Logs and databases stay in ${own.stateDir}`);
    void stack.killAll().finally(() => process.exit(1));
  };
  const interruption = listenForInterruption(insist, onFault);
  process.once('exit', () => stack.killNow());
  let code = 1;
  try {
    code = await bootAndRun(own, wanted, endedByThemselves, interruption);
    return faulty ? 1 : code;
  } finally {
    await stack.stop();
    if (code === 0 && !faulty) own.discard();
    else print(`Logs and databases are kept in ${own.stateDir}`);
  }
}

async function bootAndRun(
  own: ChaosStack,
  wanted: ChaosArguments,
  endedByThemselves: () => number,
  { requested, signal }: Interruption,
): Promise<number> {
  const booting = own.stack.boot();
  try {
    await Promise.race([booting, requested]);
  } catch (error) {
    await Promise.race([requested, sleep(CTRL_C_MS)]);
    if (!signal.aborted) throw error;
  }
  // The boot fails once the stack is stopped. That error is expected.
  booting.catch(() => undefined);
  if (signal.aborted) {
    print('Stopped before the first flow was asked for: nothing is proven.');
    return 1;
  }
  const found = await runCampaign(own, wanted, signal, print);
  const evidence = { ...found, endedByThemselves: endedByThemselves() };
  print('');
  for (const line of summaryLines(evidence)) print(line);
  return violations(evidence).length === 0 ? 0 : 1;
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return EXPLAINED.has(error.name) ? error.message : (error.stack ?? error.message);
}
