import type { Interruption } from '../stack/interruption.js';
import { exitCodeOf, print, serve } from '../stack/serve.js';
import { parseArguments, type ChaosArguments } from './arguments.js';
import { runCampaign } from './run.js';
import { prepareChaosStack, type ChaosStack } from './chaos-stack.js';
import { summaryLines, violations } from './summary.js';

export interface ChaosOptions {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  temporalPath: string;
}

/** Runs `npm run chaos` after set-up. Resolves with the exit code once everything has stopped. */
export async function runChaos({ args, env, temporalPath }: ChaosOptions): Promise<number> {
  return await exitCodeOf(async () => {
    const wanted = parseArguments(args);
    let endedByThemselves = 0;
    const say = (line: string): void => {
      endedByThemselves += line.includes(' ended (') ? 1 : 0;
      print(`  ${line}`);
    };
    const own = await prepareChaosStack({ env, temporalPath, say, args: wanted });
    const onKill = `Killing what is left. Logs and databases stay in ${own.stateDir}`;
    let code = 1;
    try {
      code = await serve(own.stack, { onFault: 'the run ends', onKill }, (interruption) =>
        run(own, wanted, () => endedByThemselves, interruption),
      );
      return code;
    } finally {
      if (code === 0) own.discard();
      else print(`Logs and databases are kept in ${own.stateDir}`);
    }
  });
}

async function run(
  own: ChaosStack,
  wanted: ChaosArguments,
  endedByThemselves: () => number,
  { signal }: Interruption,
): Promise<number> {
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
