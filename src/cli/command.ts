import { messageOf } from '../contract/message-of.js';
import { ConfigError } from '../config/index.js';
import { decide } from './approvals.js';
import { parseRequest, type Request } from './arguments.js';
import { runBrakes } from './brakes.js';
import { runBulk } from './bulk.js';
import { drainBuild } from './deploy-drain.js';
import { showDeployment } from './deploy-status.js';
import { openEngine, type Engine, type EngineNeeds, type Surroundings } from './engine.js';
import { CommandError, UsageError } from './errors.js';
import { explainFlow } from './explain.js';
import { exportRuns } from './export.js';
import { replay, showEvents } from './event-commands.js';
import { replayNamespace } from './replay.js';
import { importSubscriptions } from './import-subscriptions.js';
import { findFlow } from './find-flow.js';
import { listFlows } from './list.js';
import { runNotifications } from './notifications.js';
import { setUp } from './setup.js';
import { runReconcile } from './reconcile.js';
import { redrive } from './redrive.js';
import { showFlow } from './show.js';
import { showText } from './show-text.js';
import { asJson, asLines, flowTable, printable } from './table.js';

export interface CommandOptions extends Surroundings {
  /** Writes the answer to standard output. */
  print: (text: string) => void;
  /** Writes hints and faults to standard error. */
  printError: (text: string) => void;
  /** Time limit for an answer of Temporal or a flow, in ms. */
  waitMs?: number;
}

/** ms. A flow with two slow calls in progress answers only after them; without a worker there is no answer. */
const WAIT_MS = 10_000;

/** Errors whose message says what to do, so no stack trace is printed. */
const EXPLAINED = new Set(['CommandError', 'KeyRingError', 'MissingPackageError', 'SecretFileError']);

/**
 * Runs the operator's command. Resolves with the exit code: 0, 1 when the command fails, 2 for wrong arguments, 3 when
 * flows are open that a build's workers are still needed for, or that no replay has tried.
 */
export async function runCommand(args: readonly string[], options: CommandOptions): Promise<number> {
  try {
    const request = parseRequest(args);
    if (request.command === 'help') options.print(request.text);
    else return await answer(request, options);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      options.printError(`${error.faults.join('\n')}\nSee: npx holdfast --help\n`);
      return 2;
    }
    options.printError(`${explained(error)}\n`);
    return 1;
  }
}

type FlowRequest = Exclude<Request, { command: 'help' }>;

/** Whether a command needs the encryption keys (`ifThere`: it runs without them and then shows less), and changes anything. */
const COMMANDS = {
  list: ['notNeeded', 'reads'],
  show: ['needed', 'reads'],
  explain: ['needed', 'reads'],
  export: ['needed', 'reads'],
  'events list': ['ifThere', 'reads'],
  'events replay': ['needed', 'changes'],
  'events export': ['needed', 'reads'],
  'notifications list': ['needed', 'reads'],
  'notifications resend': ['needed', 'changes'],
  setup: ['notNeeded', 'changes'],
  'deploy status': ['notNeeded', 'reads'],
  'deploy drain': ['notNeeded', 'changes'],
  replay: ['needed', 'reads'],
  redrive: ['needed', 'changes'],
  'subscriptions import': ['needed', 'changes'],
  'subscriptions bulk': ['needed', 'changes'],
  'subscriptions bulk status': ['needed', 'reads'],
  'subscriptions bulk results': ['needed', 'reads'],
  'subscriptions bulk stop': ['notNeeded', 'changes'],
  'reconcile run': ['needed', 'changes'],
  'reconcile list': ['ifThere', 'reads'],
  'reconcile ack': ['needed', 'changes'],
  brake: ['needed', 'changes'],
  release: ['needed', 'changes'],
  brakes: ['needed', 'reads'],
  approve: ['needed', 'changes'],
  reject: ['needed', 'changes'],
} as const satisfies Record<FlowRequest['command'], readonly [EngineNeeds['keys'], EngineNeeds['does']]>;

async function answer(request: FlowRequest, options: CommandOptions): Promise<number> {
  const { waitMs = WAIT_MS } = options;
  const [keys, kind] = COMMANDS[request.command];
  const does = 'dryRun' in request && request.dryRun === true ? 'reads' : kind;
  const engine = await openEngine(options, { keys, does, checks: request.command !== 'setup' }, waitMs);
  try {
    if (engine.note !== undefined) options.printError(`${engine.note}\n`);
    return await run(engine, request, options);
  } finally {
    await engine.close();
  }
}

async function run(engine: Engine, request: FlowRequest, options: CommandOptions): Promise<number> {
  switch (request.command) {
    case 'list':
      await list(engine, request, options);
      return 0;
    case 'export':
      return await exportClosed(engine, request, options);
    case 'events list':
      await showEvents(engine, request, options);
      return 0;
    case 'events replay':
      return await replay(engine, request, options);
    case 'events export':
    case 'notifications list':
    case 'notifications resend':
      return await runNotifications(engine, request, options);
    case 'setup':
      return await setUp(engine, request, options);
    case 'deploy status':
      return await showDeployment(engine, request, options);
    case 'deploy drain':
      return await drainBuild(engine, request, options);
    case 'replay':
      return await replayNamespace(engine, request, options);
    case 'reconcile run':
    case 'reconcile list':
    case 'reconcile ack':
      return await runReconcile(engine, request, options);
    case 'brake':
    case 'release':
    case 'brakes':
      return await runBrakes(engine, request, options);
    case 'approve':
    case 'reject':
      return await decide(engine, request, options);
    case 'redrive':
      return await redrive(engine, request, options);
    case 'subscriptions bulk':
    case 'subscriptions bulk status':
    case 'subscriptions bulk results':
    case 'subscriptions bulk stop':
      return await runBulk(engine, request, options);
    case 'subscriptions import':
      return await importSubscriptions(engine, request, options);
    default:
      await showOrExplain(engine, request, options);
      return 0;
  }
}

async function list(
  { client, address, namespace }: Engine,
  { options: asked, json }: Extract<FlowRequest, { command: 'list' }>,
  { print, printError }: CommandOptions,
): Promise<void> {
  const { rows, more } = await listFlows(client, asked, new Date());
  if (json) print(asJson(rows));
  else if (rows.length > 0) print(asLines(flowTable(rows)));
  else printError(`No such flow in namespace "${namespace}" at ${address}.\n`);
  if (more) printError(`There are more than these ${rows.length}: narrow it down, or raise --limit.\n`);
}

/** Not all that has ended is in the file: exit code 1. */
async function exportClosed(
  { client }: Engine,
  { options: asked, json }: Extract<FlowRequest, { command: 'export' }>,
  { print, printError }: CommandOptions,
): Promise<number> {
  const exported = await exportRuns(client, asked);
  const { file, runs, since, until, sha256, gone, undecoded } = exported;
  if (json) print(asJson(exported));
  else print(`${file}: ${runs} runs that ended from ${since} to ${until}, SHA-256 ${sha256}. Next: --since ${until}\n`);
  if (gone.length > 0) printError(`Gone before they could be read: ${gone.map(printable).join(', ')}\n`);
  if (undecoded.length > 0)
    printError(
      `Not decoded as a whole, give HOLDFAST_ENCRYPTION_KEYS the keys they had: ${undecoded.map(printable).join(', ')}\n`,
    );
  return gone.length + undecoded.length > 0 ? 1 : 0;
}

async function showOrExplain(
  engine: Engine,
  { command, reference, json }: Extract<FlowRequest, { command: 'show' | 'explain' }>,
  { print, printError, waitMs = WAIT_MS }: CommandOptions,
): Promise<void> {
  const { flow, others } = await findFlow(engine, reference);
  if (others.length > 0) {
    printError(`This is ${printable(flow.workflowId)}; the name may also mean: ${others.map(printable).join(', ')}\n`);
  }
  if (command === 'show') {
    const details = await showFlow(engine, flow, new Date(), waitMs);
    print(json ? asJson(details) : asLines(showText(details)));
  } else {
    const explanation = await explainFlow(engine, flow, new Date(), waitMs);
    print(json ? asJson(explanation) : asLines(explanation.explanation));
  }
}

function explained(error: unknown): string {
  if (error instanceof ConfigError || error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (EXPLAINED.has(error.name)) return error.message;
  const cause = error.cause instanceof Error ? ` (${messageOf(error.cause)})` : '';
  return `${error.name}: ${error.message}${cause}`;
}
