import {
  MOST_VERSIONS,
  polledQueues,
  type Build,
  type WorkerDeployment,
  type Workers,
} from '../client/worker-deployment.js';
import {
  ASK_MS,
  askForDeployment,
  buildNamed,
  countFlows,
  deploymentNameOf,
  getsNewWork,
  othersQuery,
  pinnedByHandQuery,
  pinnedQuery,
  sayUnversioned,
} from './deployment.js';
import type { Engine, Surroundings } from './engine.js';
import { CommandError } from './errors.js';
import { asJson, asLines, printable, table, time } from './table.js';

export interface DeployStatusRequest {
  command: 'deploy status';
  json: boolean;
  /** Only this one. */
  build?: string;
}

interface Output extends Pick<Surroundings, 'env'> {
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** Exit code of a command that has done its work, and open flows forbid the next step of a deploy. */
export const STILL_OPEN = 3;

interface BuildRow extends Build {
  /** Open flows that only a worker of this build goes on with. */
  pinned: number;
  /** Those of them that wait for a worker of payments, and not of billing. */
  pinnedByHand: number;
  /** Open flows whose last task was done here, and that another build goes on with. */
  others: number;
}

/**
 * `holdfast deploy status`. Resolves with the exit code: {@link STILL_OPEN} if flows are pinned to a build without a
 * worker, so that nobody follows them; with `build` if its workers must not stop yet.
 * @throws CommandError if `build` is not there, with its whole deployment or alone
 */
export async function showDeployment(
  engine: Engine,
  { json, build: only }: DeployStatusRequest,
  { print, printError, env }: Output,
): Promise<number> {
  const name = deploymentNameOf(env);
  const deployment = await askForDeployment(engine, name);
  if (deployment === undefined) {
    // Whoever names a build stops its workers after a 0, and a mistyped TEMPORAL_DEPLOYMENT_NAME ends here too.
    if (only !== undefined) throw new CommandError(sayUnversioned(engine, name));
    if (json) print(asJson({ deployment: name, versions: 0, mostVersions: MOST_VERSIONS, builds: [] }));
    else printError(`${sayUnversioned(engine, name)}\n`);
    return 0;
  }
  const shown = only === undefined ? deployment.builds : [buildNamed(deployment, only)];
  const rows: BuildRow[] = [];
  // One question after the other: the server limits how many visibility takes a second.
  for (const build of shown) rows.push(await withFlows(engine, name, build));
  const versions = deployment.builds.length;
  if (json) {
    const { unversioned } = deployment;
    print(
      asJson({
        deployment: name,
        versions,
        mostVersions: MOST_VERSIONS,
        unversionedWorkers: unversioned,
        builds: rows,
      }),
    );
  } else {
    print(
      asLines([
        `Deployment ${printable(name)}, versions used: ${versions} of ${MOST_VERSIONS}`,
        '',
        ...buildTable(rows, await queuesServed(engine, name, deployment)),
      ]),
    );
    const note = noteOn(deployment);
    if (note !== undefined) printError(`${note}\n`);
  }
  const isOpen = only === undefined ? rows.some(isAbandoned) : rows.some((row) => getsNewWork(row) || row.pinned > 0);
  return isOpen ? STILL_OPEN : 0;
}

async function withFlows({ client }: Engine, deployment: string, build: Build): Promise<BuildRow> {
  const { buildId } = build;
  const pinned = await countFlows(client, pinnedQuery(deployment, buildId));
  return {
    ...build,
    pinned,
    pinnedByHand: pinned === 0 ? 0 : await countFlows(client, pinnedByHandQuery(deployment, buildId)),
    others: await countFlows(client, othersQuery(deployment, buildId)),
  };
}

/** Queues that nobody serves for this build, though flows that are pinned to it wait there. */
function abandoned({ pinned, pinnedByHand, workers: { payments, billing } }: BuildRow): (keyof Workers)[] {
  return [
    ...(pinnedByHand > 0 && payments === 0 ? ['payments' as const] : []),
    ...(pinned > pinnedByHand && billing === 0 ? ['billing' as const] : []),
  ];
}

const isAbandoned = (row: BuildRow): boolean => abandoned(row).length > 0;

/** Under Temporal's Worker Controller a deployment has one of the queues, and the other is that of another one. */
async function queuesServed(
  { client }: Engine,
  name: string,
  deployment: WorkerDeployment,
): Promise<ReadonlySet<keyof Workers>> {
  const isLacking = ({ workers: { payments, billing } }: Build): boolean => payments * billing === 0;
  if (!deployment.builds.some((build) => getsNewWork(build) && isLacking(build))) return new Set();
  return await client.withDeadline(Date.now() + ASK_MS, () => polledQueues(client, name, deployment));
}

const HEAD = ['BUILD', 'STATUS', 'SINCE (UTC)', 'PAYMENTS', 'BILLING', 'PINNED', 'OTHERS', ''];

function buildTable(rows: readonly BuildRow[], served: ReadonlySet<keyof Workers>): string[] {
  return table([
    HEAD,
    ...rows.map((row) => [
      printable(row.buildId),
      row.ramp === null ? row.status : `${row.status} ${row.ramp} %`,
      row.since === null ? '-' : time(row.since),
      workers(row.workers.payments),
      workers(row.workers.billing),
      String(row.pinned),
      String(row.others),
      remarkOn(row, served),
    ]),
  ]);
}

const workers = (count: number): string => `${count} ${count === 1 ? 'worker' : 'workers'}`;

function remarkOn(row: BuildRow, served: ReadonlySet<keyof Workers>): string {
  const { status, pinned } = row;
  const { payments, billing } = row.workers;
  const hasWorkers = payments + billing > 0;
  if (isAbandoned(row))
    return `nobody follows what is pinned to it: start a ${abandoned(row).join(' and a ')} worker of this build`;
  if (getsNewWork(row))
    return [...served].some((queue) => row.workers[queue] === 0) ? 'a queue has no worker of it' : '';
  if (pinned > 0) return `npx holdfast deploy drain --build ${printable(row.buildId)}`;
  if (status === 'inactive') return hasWorkers ? 'gets no work until it is made current' : '';
  if (status === 'ramping') return hasWorkers ? 'gets no work until its ramp is raised' : '';
  return hasWorkers ? 'its workers may stop' : '';
}

/** Workers of both kinds on one queue: only those of the kind that is current get new work. */
function noteOn({ unversioned, builds }: WorkerDeployment): string | undefined {
  const count = Math.max(unversioned.payments, unversioned.billing);
  if (count === 0) return undefined;
  const current = builds.some(({ status }) => status === 'current');
  return `${count} ${count === 1 ? 'worker is' : 'workers are'} of no build: ${
    current ? 'they get nothing while a build is current' : 'they get all work until a build is made current'
  }.`;
}
