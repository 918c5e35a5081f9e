import { messageOf } from '../contract/message-of.js';
import { HoldfastError } from '../client/errors.js';
import { HoldfastClient } from '../client/holdfast-client.js';
import type { Engine } from './engine.js';
import type { Line } from './line-file.js';
import { isLeft, keyOf, type LineResult, type Report, type ReportEntry } from './line-report.js';
import { asLines, printable } from './table.js';

export interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
}

interface Asking<Asked extends Line> {
  report: Report;
  /** Keys of the lines that were done by an earlier call. */
  done: ReadonlySet<string>;
  /** At most so many a second. */
  rate: number;
  json: boolean;
  /** When it stops asking (epoch ms), and why. */
  until?: { at: number; why: string };
  /** The result of a line for which nothing need be asked; undefined for the others. */
  known?: (line: Asked) => LineResult | undefined;
}

/** How long each flow is waited for; it goes on afterwards. */
const WAIT = { waitFor: '30 seconds' } as const;
/** More would say that flows end more slowly than they are asked for. */
const MOST_AT_ONCE = 200;

/**
 * Asks for the flow of each line that is not done yet, and reports each. Resolves with the exit code: 1 when a line is
 * left without an outcome.
 */
export async function askLines<Asked extends Line>(
  { client }: Engine,
  lines: readonly Asked[],
  { report, done, rate, json, until, known = () => undefined }: Asking<Asked>,
  { print, printError }: Output,
): Promise<number> {
  const holdfast = new HoldfastClient(client);
  const left = lines.filter((line) => !done.has(keyOf(line)));
  const entries: ReportEntry[] = [];
  report.open();
  try {
    await paced(left, rate, until?.at ?? Infinity, async (line) => {
      const entry = report.add(line, known(line) ?? (await askOne(holdfast, line)), new Date());
      entries.push(entry);
      print(json ? `${JSON.stringify(entry)}\n` : asLines([sayOne(entry)]));
    });
  } finally {
    report.close();
  }

  const asked = new Set(entries.map(({ hash }) => hash));
  const notAsked = left.filter(({ hash }) => !asked.has(hash));
  if (notAsked.length > 0) printError(`${notAsked.length} lines were not asked for: ${until?.why}\n`);
  const open = entries.filter(isLeft);
  printError(
    `${lines.length} lines: ${lines.length - left.length} were done before, ${entries.length - open.length} are ` +
      `done now, ${open.length + notAsked.length} are left. The report is ${report.path}; the same command goes on from there.\n`,
  );
  return open.length + notAsked.length === 0 ? 0 : 1;
}

/**
 * Asks for so many lines a second, and waits for all. Stops asking when the time is over, or when one could not be asked.
 * @throws what the first of those was rejected with, once no other is under way
 */
async function paced<Asked>(
  lines: readonly Asked[],
  perSecond: number,
  until: number,
  ask: (line: Asked) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const rejections: unknown[] = [];
  const begun = performance.now();
  for (const [index, line] of lines.entries()) {
    const wait = begun + (index * 1_000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    while (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    if (Date.now() >= until || rejections.length > 0) break;
    const asked = ask(line)
      .catch((error: unknown) => void rejections.push(error))
      .finally(() => underWay.delete(asked));
    underWay.add(asked);
  }
  await Promise.all(underWay);
  if (rejections.length > 0) throw rejections[0];
}

async function askOne(holdfast: HoldfastClient, line: Line): Promise<LineResult> {
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
    const { status = 'followed', transactionId, nextBill } = entry.outcome;
    const parts = [status, transactionId, sayBill(nextBill)].filter((part) => part !== undefined);
    return `${start}${parts.map((part) => printable(String(part as string))).join('  ')}`;
  }
  const shown = entry.transactions.map(({ kind, status, transactionId }) => `${kind} ${status} ${transactionId}`);
  const said = entry.result === 'hasMoney' ? 'not sent: the statement shows' : 'not sent: declined by the statement:';
  return `${start}${said} ${printable(shown.join(', '))}`;
}

function sayBill(nextBill: unknown): string | undefined {
  if (typeof nextBill !== 'object' || nextBill === null) return undefined;
  const { period, date } = nextBill as Readonly<Record<string, unknown>>;
  return `next: period ${String(period)} on ${String(date)}`;
}
