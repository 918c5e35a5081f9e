import { appendFileSync, closeSync, fstatSync, ftruncateSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { z } from 'zod';
import type { LostTime } from '../domain/lost-time.js';
import type { StatementEntry } from '../domain/statement.js';
import { CommandError } from './errors.js';
import type { Engine } from './engine.js';
import type { Line } from './line-file.js';

/** What has become of one line. */
export type LineResult =
  /** The flow's own answer; `status` may be `pending`, `underReview` or `unknown`: it goes on. */
  | { result: 'outcome'; outcome: Readonly<Record<string, unknown>> }
  /** The flow, or Temporal, answered with a failure of this type. */
  | { result: 'refused'; type: string; message: string }
  /** The statement shows that money was, or may have been, moved or held: nothing was sent. */
  | { result: 'hasMoney'; transactions: readonly StatementEntry[] }
  /** The statement shows that it was declined: nothing was sent. */
  | { result: 'declined'; transactions: readonly StatementEntry[] };

export type ReportEntry = {
  line: number;
  reference: string;
  workflowId: string;
  hash: string;
  /** Which Temporal was asked: address, namespace and the namespace's id, since one of that name may be made again. */
  temporal: string;
  at: string;
} & LineResult;

const entrySchema = z.object({
  workflowId: z.string(),
  hash: z.string(),
  temporal: z.string(),
  at: z.iso.datetime(),
  result: z.string(),
  outcome: z.unknown().optional(),
});

/** Of each entry. */
const BEGINNING = '{"line":';

/** Fields of an outcome that say what became of the money. No token and no customer data goes into a report. */
const REPORTED = [
  ...['status', 'paymentId', 'transactionId', 'amount', 'currency', 'category', 'reason', 'workflowId'],
  ...['nextBill', 'billedThrough'],
];
/** The flow goes on: it is asked again when the command is repeated. */
const OPEN: ReadonlySet<unknown> = new Set(['unknown', 'pending', 'underReview']);

/** ms. */
const DESCRIBE_MS = 10_000;

/** The report of a file: JSON lines, one for each line that was done. It is added to, so that a later call goes on. */
export class Report {
  readonly path: string;
  readonly #temporal: string;
  #file = -1;
  #broken: CommandError | undefined;

  private constructor(path: string, temporal: string) {
    this.path = path;
    this.#temporal = temporal;
  }

  static async of(path: string, { client, address }: Pick<Engine, 'client' | 'address'>): Promise<Report> {
    const { namespace } = client.options;
    const ask = () => client.workflowService.describeNamespace({ namespace });
    const { namespaceInfo } = await client.withDeadline(Date.now() + DESCRIBE_MS, ask);
    return new Report(path, `${address}/${namespace} ${namespaceInfo?.id ?? ''}`);
  }

  /**
   * Names the lines, by workflow id and hash, that need not be asked again. What another Temporal was asked, such as that
   * of a rehearsal, is not done here. What was asked before the end of a lost time a restore may have lost again.
   * @throws CommandError for a file that is no report
   */
  done({ until }: Pick<LostTime, 'until'> = { until: -Infinity }): Set<string> {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return new Set();
      throw new CommandError(`The report ${this.path} can't be read (${codeOf(error)}). Name another file by --report`);
    }
    // A call that was killed may have left a line without its end: that flow is asked again.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const rest = text.slice(whole.length);
    const lines = whole.split('\n').slice(0, -1);
    const refuse = (number: number): never => {
      throw new CommandError(`${this.path}, line ${number}, is no report: name another file by --report`);
    };
    const done = new Set<string>();
    for (const [index, line] of lines.entries()) {
      const entry = entrySchema.safeParse(parsed(line));
      if (!entry.success) return refuse(index + 1);
      const { outcome, at, temporal } = entry.data;
      if (temporal !== this.#temporal) continue;
      const status =
        typeof outcome === 'object' && outcome !== null && 'status' in outcome ? outcome.status : undefined;
      const key = keyOf(entry.data);
      if (entry.data.result === 'outcome' && !OPEN.has(status) && Date.parse(at) > until) done.add(key);
      else done.delete(key);
    }
    // Another file must not lose its last line, which may be its only one.
    if (!rest.startsWith(BEGINNING.slice(0, rest.length))) return refuse(lines.length + 1);
    if (rest !== '') truncateSync(this.path, Buffer.byteLength(whole));
    return done;
  }

  /** Must run before anything is asked. @throws CommandError if nothing can be written to it */
  open(): void {
    try {
      this.#file = openSync(this.path, 'a', 0o600);
    } catch (error) {
      throw new CommandError(
        `Nothing was asked: the report ${this.path} can't be written (${codeOf(error)}). Name another file by --report`,
      );
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /** @throws CommandError if it can't be written, such as on a full disk */
  add({ number, reference, workflowId, hash }: Line, result: LineResult, at: Date): ReportEntry {
    const entry = {
      line: number,
      reference,
      workflowId,
      hash,
      temporal: this.#temporal,
      at: at.toISOString(),
      ...reported(result),
    };
    // Half a line must not be followed by another one.
    if (this.#broken !== undefined) throw this.#broken;
    // Another call may write to it as well.
    const { size } = fstatSync(this.#file);
    try {
      appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
    } catch (error) {
      this.#broken = new CommandError(
        `The report ${this.path} can't be written (${codeOf(error)}): line ${number} was asked for, and no further one is ` +
          'begun. Mend that, and the same command goes on; it asks again for what is not in the report',
      );
      this.#cutOff(size);
      throw this.#broken;
    }
    return entry;
  }

  #cutOff(length: number): void {
    try {
      ftruncateSync(this.#file, length);
    } catch {
      // What stands last is cut off by the next call.
    }
  }
}

export function keyOf({ workflowId, hash }: { workflowId: string; hash: string }): string {
  return `${workflowId} ${hash}`;
}

function reported(result: LineResult): LineResult {
  if (result.result !== 'outcome') return result;
  const kept = Object.entries(result.outcome).filter(([name]) => REPORTED.includes(name));
  return { result: 'outcome', outcome: Object.fromEntries(kept) };
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** True if somebody has to look, or to ask again. */
export function isLeft(result: LineResult): boolean {
  if (result.result === 'outcome') return result.outcome['status'] === 'unknown';
  return result.result === 'refused';
}
