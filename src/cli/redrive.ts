import { announcedKeys } from '../client/ready-check.js';
import { PAYMENTS_TASK_QUEUE } from '../contract/names.js';
import { lostKeysUntil, type LostTime, parseLostTime } from '../domain/lost-time.js';
import { hasMoney, parseStatement, type Statement, whyNotCovered } from '../domain/statement.js';
import type { Request } from './arguments.js';
import { askLines, type Output } from './ask-lines.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { faulty, readText } from './line-file.js';
import { type LineResult, Report } from './line-report.js';
import { type OrderLine, parseOrder } from './redrive-order.js';

export type RedriveRequest = Extract<Request, { command: 'redrive' }>;

const NOTHING = 'Nothing was sent';

/**
 * `holdfast redrive`: asks again for flows that a restore from a backup may have lost. Resolves with the exit code: 1
 * when a line is left without an outcome.
 * @throws CommandError with every fault, before anything is asked
 */
export async function redrive(engine: Engine, request: RedriveRequest, output: Output): Promise<number> {
  const order = parseOrder(readText(request.file));
  if ('faults' in order) throw faulty(NOTHING, request.file, order.faults);
  const lost = await lostTimeOf(engine, order.lines);
  const statement = request.statement === undefined ? undefined : statementOf(request.statement, lost);
  const limits: Limits = { statement, until: statement === undefined ? lostKeysUntil(lost) : Infinity };
  if (Date.now() >= limits.until) throw new CommandError(`Nothing was sent: ${sayOver(limits)}`);

  const report = await Report.of(request.report ?? `${request.file}.report.jsonl`, engine);
  const { rate, json } = request;
  const asking = {
    ...{ report, done: report.done(lost), rate, json },
    ...(limits.until < Infinity && { until: { at: limits.until, why: sayOver(limits) } }),
    known: (line: OrderLine) => fromStatement(line, statement),
  };
  return await askLines(engine, order.lines, asking, output);
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
  if ('faults' in parsed) throw faulty(NOTHING, file, parsed.faults);
  const why = whyNotCovered(parsed.statement, lost);
  if (why !== undefined) throw faulty(NOTHING, file, [why]);
  return parsed.statement;
}

/** What the statement says of a line; undefined if that must be asked for. */
function fromStatement(line: OrderLine, statement: Statement | undefined): LineResult | undefined {
  const transactions = statement === undefined ? [] : line.shown(statement);
  if (transactions.length === 0) return undefined;
  return { result: hasMoney(transactions) ? 'hasMoney' : 'declined', transactions };
}
