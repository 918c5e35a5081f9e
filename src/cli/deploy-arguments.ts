import type { Command } from 'commander';
import type { DeployDrainRequest } from './deploy-drain.js';
import type { DeployStatusRequest } from './deploy-status.js';
import type { ReplayRequest } from './replay.js';

export type DeployRequest = DeployStatusRequest | DeployDrainRequest | ReplayRequest;

/** What the command line gives to the commands of one group. */
export interface Parsing {
  text: (option: string) => (value: string) => string;
  wholeOf: (option: string, least: number, most: number) => (value: string) => number;
  json: () => boolean;
  ask: (request: DeployRequest) => void;
}

const REPLAYED = 500;
/** Above the open flows of any merchant: one history is in memory at a time. */
const MOST_REPLAYED = 1_000_000;
const RATE = 20;
const WAIT_S = 30;

export function addDeployCommands(program: Command, { text, wholeOf, json, ask }: Parsing): void {
  const deploy = program.command('deploy').description('builds of the workers');
  deploy
    .command('status')
    .description('the builds: which gets new work, their workers, and the open flows that need them')
    .option('--build <name>', 'only this one; exit code 3 while its workers must not stop', text('--build'))
    .action(({ build }: { build?: string }) =>
      ask({ command: 'deploy status', json: json(), ...(build !== undefined && { build }) }),
    );
  deploy
    .command('drain')
    .description('tells the subscriptions of an older build to move on; exit code 3 while any flow still needs it')
    .requiredOption('--build <name>', 'which build is to be left', text('--build'))
    .option('--rate <number>', 'so many a second at most', wholeOf('--rate', 1, 1_000), RATE)
    .option('--wait <seconds>', 'how long it waits until they have moved', wholeOf('--wait', 0, 3_600), WAIT_S)
    .option(
      '--payments',
      'another build goes on with the payments of bills that are left there: first replay --open --pinned in its image',
    )
    .action(({ payments, ...given }: Pick<DeployDrainRequest, 'build' | 'rate' | 'wait'> & { payments?: true }) =>
      ask({ command: 'deploy drain', json: json(), ...given, payments: payments === true }),
    );

  program
    .command('replay')
    .description(
      "replays the namespace's histories with this build's code, before it is made current; exit code 1 if any differs, 3 if --limit has left open ones out",
    )
    .option('--open', 'flows that have not ended (default: these and recent ones)')
    .option('--recent', 'flows that have ended, the latest first')
    .option('--pinned', 'also open ones that are pinned to a build, which go on with that one')
    .option('--limit <number>', 'at most so many of each type', wholeOf('--limit', 1, MOST_REPLAYED), REPLAYED)
    .action(({ open, recent, pinned, limit }: { open?: true; recent?: true; pinned?: true; limit: number }) => {
      const both = open === undefined && recent === undefined;
      const which = { open: both || open === true, recent: both || recent === true };
      ask({ command: 'replay', json: json(), ...which, pinned: pinned === true, limit });
    });
}
