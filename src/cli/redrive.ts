import { readFileSync } from 'node:fs';
import { HoldfastError } from '../client/errors.js';
import { HoldfastClient } from '../client/holdfast-client.js';
import { announcedKeys } from '../client/ready-check.js';
import { PAYMENTS_TASK_QUEUE } from '../contract/names.js';
import { lostKeysUntil, type LostTime, parseLostTime } from '../domain/lost-time.js';
import { hasMoney, parseStatement, type Statement, whyNotCovered } from '../domain/statement.js';
import type { Request } from './arguments.js';
import type { Engine } from './engine.js';
import { CommandError, messageOf } from './errors.js';
import { type OrderLine, parseOrder } from './redrive-order.js';
import { isLeft, keyOf, type Redriven, Report, type ReportEntry } from './redrive-report.js';
import { asLines, printable } from './table.js';

export type RedriveRequest = Extract<Request, { command: 'redrive' }>;

interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** How long each flow is waited for; it goes on afterwards. */
const WAIT = { waitFor: '30 seconds' } as const;
/** More would say that flows end more slowly than they are asked for. */
const MOST_AT_ONCE = 200;

/**
 * `holdfast redrive`: asks again for flows that a restore from a backup may have lost. Resolves with the exit code: 1
 * when a line is left without an outcome.
 * @throws CommandError with every fault, before anything is asked
 */
export async function redrive(engine: Engine, request: RedriveRequest, output: Output): Promise<number> {
  const order = parseOrder(readText(request.file));
  if ('faults' in order) throw faulty(request.file, order.faults);
  const lost = await lostTimeOf(engine, order.lines);
  const statement = request.statement === undefined ? undefined : statementOf(request.statement, lost);
  const limits: Limits = { statement, until: statement === undefined ? lostKeysUntil(lost) : Infinity };
  if (Date.now() >= limits.until) throw new CommandError(`Nothing was sent: ${sayOver(limits)}`);

  const report = new Report(request.report ?? `${request.file}.report.jsonl`);
  const done = report.done(lost);
  const left = order.lines.filter((line) => !done.has(keyOf(line)));
  const holdfast = new HoldfastClient(engine.client);
  const entries: ReportEntry[] = [];
  await askAll(left, request.rate, limits, async (line) => {
    const redriven = fromStatement(line, statement) ?? (await askOne(holdfast, line));
    const entry = report.add(line, redriven, new Date());
    entries.push(entry);
    output.print(request.json ? `${JSON.stringify(entry)}\n` : asLines([sayOne(entry)]));
  });

  const asked = new Set(entries.map(({ hash }) => hash));
  const notAsked = left.filter(({ hash }) => !asked.has(hash));
  if (notAsked.length > 0) output.printError(`${notAsked.length} lines were not asked for: ${sayOver(limits)}\n`);
  const open = entries.filter(isLeft);
  output.printError(
    `${order.lines.length} lines: ${order.lines.length - left.length} were done before, ${entries.length - open.length} are ` +
      `done now, ${open.length + notAsked.length} are left. The report is ${report.path}; the same command goes on from there.\n`,
  );
  return open.length + notAsked.length === 0 ? 0 : 1;
}

interface Limits {
  statement: Statement | undefined;
  /** Epoch ms. */
  until: number;
}

function sayOver({ until }: Limits): string {
  return (
    `since ${new Date(until).toISOString()}, 20 h after the backup, the payment service may have forgotten the keys of the ` +
    'lost time, and what was paid then would be paid again. Give its statement of that time by --statement ' +
    '(docs/disaster.md)'
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function faulty(file: string, faults: readonly string[]): CommandError {
  return new CommandError([`Nothing was sent. ${file} has faults:`, ...faults.map((fault) => `- ${fault}`)].join('\n'));
}

/**
 * The lost time, as all workers announce it: one that is not told of it would believe a refusal that the lost flow has
 * caused, and answer that nothing was sent.
 */
async function lostTimeOf({ client }: Engine, lines: readonly OrderLine[]): Promise<LostTime> {
  const told = 'start every worker with HOLDFAST_RESTORED_TO=<from>,<until> first (docs/disaster.md)';
  const queues = new Set([PAYMENTS_TASK_QUEUE, ...lines.map(({ taskQueue }) => taskQueue)]);
  const texts = new Set<string>();
  for (const queue of queues) {
    const workers = await announcedKeys(client, [queue]);
    if (workers.length === 0) throw new CommandError(`Nothing was sent: no worker polls queue "${queue}"; ${told}.`);
    for (const { name, restoredTo } of workers) {
      if (restoredTo === undefined)
        throw new CommandError(
          `Nothing was sent: worker ${name} of queue "${queue}" is not told of a restore; ${told}. One that has ` +
            'stopped counts for 5 minutes more.',
        );
      texts.add(restoredTo);
    }
  }
  const [text = '', ...others] = texts;
  const parsed = parseLostTime(text, Date.now());
  if (others.length > 0 || 'faults' in parsed)
    throw new CommandError(
      `Nothing was sent: the workers are told of different lost times (${[...texts].join('; ')}); give all the same.`,
    );
  return parsed.lost;
}

function statementOf(file: string, lost: LostTime): Statement {
  const parsed = parseStatement(readText(file), Date.now());
  if ('faults' in parsed) throw faulty(file, parsed.faults);
  const why = whyNotCovered(parsed.statement, lost);
  if (why !== undefined) throw faulty(file, [why]);
  return parsed.statement;
}

/** Asks for so many flows a second, and waits for all. Stops asking when the time is over. */
async function askAll(
  lines: readonly OrderLine[],
  perSecond: number,
  { until }: Limits,
  ask: (line: OrderLine) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const begun = performance.now();
  for (const [index, line] of lines.entries()) {
    const wait = begun + (index * 1_000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    while (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    if (Date.now() >= until) break;
    const asked = ask(line).finally(() => underWay.delete(asked));
    underWay.add(asked);
  }
  await Promise.all(underWay);
}

/** What the statement says of a line; undefined if that must be asked for. */
function fromStatement(line: OrderLine, statement: Statement | undefined): Redriven | undefined {
  const transactions = statement === undefined ? [] : line.shown(statement);
  if (transactions.length === 0) return undefined;
  return { result: hasMoney(transactions) ? 'hasMoney' : 'declined', transactions };
}

async function askOne(holdfast: HoldfastClient, line: OrderLine): Promise<Redriven> {
  try {
    return { result: 'outcome', outcome: { ...(await line.ask(holdfast, WAIT)) } };
  } catch (error) {
    if (error instanceof HoldfastError) return { result: 'refused', type: error.type, message: error.message };
    return { result: 'refused', type: 'EngineUnavailable', message: messageOf(error) };
  }
}

function sayOne(entry: ReportEntry): string {
  const start = `line ${entry.line}  ${printable(entry.reference)}  `;
  if (entry.result === 'refused') return `${start}${entry.type}: ${printable(entry.message)}`;
  if (entry.result === 'outcome') {
    const { status = 'followed', transactionId = '' } = entry.outcome;
    return `${start}${[status, transactionId].map((part) => printable(String(part as string))).join('  ')}`.trimEnd();
  }
  const shown = entry.transactions.map(({ kind, status, transactionId }) => `${kind} ${status} ${transactionId}`);
  const said = entry.result === 'hasMoney' ? 'not sent: the statement shows' : 'not sent: declined by the statement:';
  return `${start}${said} ${printable(shown.join(', '))}`;
}
