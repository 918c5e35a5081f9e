import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { announcedKeys } from '../client/ready-check.js';
import { createReconcilePort } from '../client/reconcile-port.js';
import { durationMs } from '../contract/fields.js';
import { BILLING_TASK_QUEUE } from '../contract/names.js';
import {
  type Finding,
  FINDING_KINDS,
  type FindingKind,
  RECONCILE_PREFIX,
  reconcileInputSchema,
  type ReconcilePort,
  type ReconcileReport,
  RECONCILIATION_TYPES,
} from '../contract/reconcile.js';
import { reconcileStatement, whyTooOld } from '../domain/reconcile/reconcile.js';
import { parseReconcilable, type ReconcilableStatement } from '../domain/reconcile/statement-rows.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { acknowledge, type Acknowledgement, listFindings, type ListedFinding } from './findings.js';
import type {
  ReconcileAckRequest,
  ReconcileListRequest,
  ReconcileRequest,
  ReconcileRunRequest,
} from './reconcile-arguments.js';
import { asJson, asLines, moneyOf, printable, table, time } from './table.js';

interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** The commands of `holdfast reconcile`. Resolves with the exit code. */
export async function runReconcile(engine: Engine, request: ReconcileRequest, output: Output): Promise<number> {
  if (request.command === 'reconcile list') return await list(engine, request, output);
  if (request.command === 'reconcile ack') return await ack(engine, request, output);
  return request.statements.length > 0
    ? await matchFiles(engine, request, output)
    : await askWorkers(engine, request, output);
}

/** 1: it has found a difference, or could not use a statement, or a flow with a doubt had no answer. */
async function askWorkers({ client }: Engine, { input, json }: ReconcileRunRequest, output: Output): Promise<number> {
  if ((await announcedKeys(client, [BILLING_TASK_QUEUE])).length === 0)
    throw new CommandError(
      `No worker polls queue "${BILLING_TASK_QUEUE}": start one (HOLDFAST_TASK_QUEUES=all or billing), since workers ask the service.`,
    );
  const workflowId = `${RECONCILE_PREFIX}${new Date().toISOString()}`;
  const handle = await client.workflow.start(RECONCILIATION_TYPES.reconcile, {
    workflowId,
    taskQueue: BILLING_TASK_QUEUE,
    args: [input],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    staticSummary: 'Reconciliation by command',
  });
  output.printError(`${workflowId} is under way; it goes on if you leave. npx holdfast explain ${workflowId}\n`);
  const report = (await handle.result()) as ReconcileReport;
  const { since, until, flows, asked, doubts, unanswered, askAgain = 0, reasons, found, fresh } = report;
  const { refusedStatements = [] } = report;
  if (json) output.print(asJson(report));
  else
    output.print(
      asLines([
        `Flows that ended from ${time(since)} to ${time(until)} UTC, and all with a doubt: ${flows} flows, ${asked} asked about, ` +
          `${doubts} of them with a doubt, ${unanswered} without an answer.`,
        ...reasons.map((reason) => `  ${printable(reason)}`),
        ...(report.statements ?? []).map(({ name, rows }) => `Statement ${printable(name)}: ${rows} transactions`),
        ...refusedStatements.flatMap(({ name, faults }) => [
          `Statement ${printable(name)} was refused, and nothing of it was used:`,
          ...faults.map((fault) => `  ${printable(fault)}`),
        ]),
        sayFound(Object.entries(found), fresh, unanswered),
        ...(askAgain > 0
          ? [
              `${askAgain} flows with a doubt had no answer: run this again${report.askAgainFrom === undefined ? '' : ` with --since ${report.askAgainFrom}`}.`,
            ]
          : []),
      ]),
    );
  return Object.keys(found).length + refusedStatements.length + askAgain === 0 ? 0 : 1;
}

/** All files are read before anything is compared. */
async function matchFiles(engine: Engine, request: ReconcileRunRequest, output: Output): Promise<number> {
  const now = Date.now();
  const statements = parseAll(request, now);
  const port = createReconcilePort(engine.client);
  await refuseOld(statements, port);
  const { settlementWindow } = reconcileInputSchema.parse(request.input);
  const windowMs = durationMs(settlementWindow) ?? 0;
  const findings: (Finding & { isFresh: boolean })[] = [];
  for (const { file, statement } of statements) {
    const found = await reconcileStatement(statement, port, { windowMs, now });
    for (const finding of found) findings.push({ ...finding, isFresh: (await port.keepFinding(finding)) === 'fresh' });
    output.printError(`${file}: ${statement.rows.length} transactions, ${found.length} differences.\n`);
  }
  const fresh = findings.filter(({ isFresh }) => isFresh).length;
  if (request.json) output.print(asJson(findings));
  else {
    const counts = FINDING_KINDS.map((kind) => [kind, findings.filter((one) => one.kind === kind).length] as const);
    output.print(
      asLines([
        ...findings.map(
          ({ kind, explanation, isFresh }) => `${kind}${isFresh ? '' : ' (known)'}: ${printable(explanation)}`,
        ),
        sayFound(counts, fresh),
      ]),
    );
  }
  return findings.length === 0 ? 0 : 1;
}

function parseAll({ statements, covers }: ReconcileRunRequest, now: number) {
  const faults: string[] = [];
  const parsed = statements.flatMap((file): { file: string; statement: ReconcilableStatement }[] => {
    const text = readText(file, faults);
    if (text === undefined) return [];
    const read = parseReconcilable(text, { now, covers });
    if ('statement' in read) return [{ file, statement: read.statement }];
    faults.push(...read.faults.map((fault) => `- ${file}: ${fault}`));
    return [];
  });
  if (faults.length > 0) throw nothingCompared(faults);
  return parsed;
}

async function refuseOld(statements: ReturnType<typeof parseAll>, port: ReconcilePort): Promise<void> {
  const faults: string[] = [];
  for (const { file, statement } of statements) {
    const why = await whyTooOld(statement, port);
    if (why !== undefined) faults.push(`- ${file}: ${why}`);
  }
  if (faults.length > 0) throw nothingCompared(faults);
}

function nothingCompared(faults: readonly string[]): CommandError {
  return new CommandError(['Nothing was compared:', ...faults].join('\n'));
}

function readText(file: string, faults: string[]): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    faults.push(`- ${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}

function sayFound(counts: Iterable<readonly [kind: string, count: number]>, fresh: number, unanswered = 0): string {
  const found = [...counts].filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
  if (found.length === 0) return unanswered === 0 ? 'No difference.' : 'No difference in what was answered.';
  return `${found.join(', ')}: ${fresh} of them new. npx holdfast reconcile list`;
}

async function list(
  { client, address, namespace }: Engine,
  request: ReconcileListRequest,
  output: Output,
): Promise<number> {
  const found = await listFindings(client, { ...request, limit: request.limit + 1 });
  const shown = found.slice(0, request.limit);
  if (request.json) output.print(asJson(shown));
  else if (shown.length > 0) output.print(asLines(shown.flatMap(sayFinding)));
  else output.printError(`No such finding in namespace "${namespace}" at ${address}.\n`);
  if (found.length > shown.length)
    output.printError(`There are more than these ${shown.length}: narrow it down, or raise --limit.\n`);
  else if (shown.length > 0 && !request.all) output.printError(`${howToAck(shown, request)}\n`);
  return 0;
}

/**
 * What is found after the newest that was shown must not be closed with it, nor what was found before and listed late: then
 * there is another number of them.
 */
function howToAck(shown: readonly ListedFinding[], { kinds, limit }: ReconcileListRequest): string {
  const until = shown.map(({ foundAt }) => foundAt).reduce((one, other) => (one > other ? one : other));
  const same = [` --count ${shown.length}`, ...kinds.map((kind) => ` --kind ${kind}`), ` --limit ${limit}`].join('');
  return `To acknowledge all of these: npx holdfast reconcile ack --all --until ${until}${same} --who <name> --why <text>`;
}

function sayFinding(finding: ListedFinding): string[] {
  const { id, foundAt, closedAt, status, explanation, reference } = finding;
  const head = [time(foundAt), printable(id), moneyOf(finding) ?? '-', printable(reference ?? '-')];
  const state = status === 'found' ? '' : `${status} ${time(closedAt ?? foundAt)}`;
  return [
    ...table([[...head, state]]),
    `  ${printable(explanation ?? 'Give this command HOLDFAST_ENCRYPTION_KEYS to see why.')}`,
  ];
}

async function ack(
  { client, address, namespace }: Engine,
  request: ReconcileAckRequest,
  output: Output,
): Promise<number> {
  const { findings, who, why } = request;
  const names = 'kinds' in findings ? await allShown(client, findings) : findings;
  const done = await acknowledge(client, names, { who, why });
  if (request.json) output.print(asJson(done));
  else if (done.length > 0) output.print(asLines(done.map(sayAcknowledged)));
  else output.printError(`No such finding in namespace "${namespace}" at ${address}.\n`);
  return done.some(({ result }) => result === 'failed') ? 1 : 0;
}

/** @throws CommandError if there are others than `reconcile list` has shown: nobody has looked into those */
async function allShown(
  client: Client,
  shown: { kinds: readonly FindingKind[]; limit: number; until: Date; count: number },
) {
  const { limit, count } = shown;
  const found = await listFindings(client, { ...shown, all: false, limit: limit + 1 });
  if (found.length > limit)
    throw new CommandError(
      `None was acknowledged: there are more than the ${limit} that reconcile list shows. Give a --kind, or both commands a higher --limit.`,
    );
  if (found.length !== count)
    throw new CommandError(
      `None was acknowledged: --count says that reconcile list has shown ${count}, and there are ${found.length} by now. Look at its list again.`,
    );
  return found.map(({ id }) => id);
}

function sayAcknowledged(done: Acknowledgement): string {
  if (done.result === 'failed') return `${printable(done.id)}  not acknowledged: ${printable(done.message)}`;
  return `${printable(done.id)}  acknowledged by ${printable(done.who)} at ${time(done.at)} UTC: ${printable(done.why)}`;
}
