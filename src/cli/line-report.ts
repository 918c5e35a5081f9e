import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
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
  /** Which Temporal was asked: address and namespace. */
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

/** Fields of an outcome that say what became of the money. No token and no customer data goes into a report. */
const REPORTED = [
  ...['status', 'paymentId', 'transactionId', 'amount', 'currency', 'category', 'reason', 'workflowId'],
  ...['nextBill', 'billedThrough'],
];
/** The flow goes on: it is asked again when the command is repeated. */
const OPEN: ReadonlySet<unknown> = new Set(['unknown', 'pending', 'underReview']);

/** The report of a file: JSON lines, one for each line that was done. It is added to, so that a later call goes on. */
export class Report {
  readonly path: string;
  readonly #temporal: string;

  constructor(path: string, { address, namespace }: Pick<Engine, 'address' | 'namespace'>) {
    this.path = path;
    this.#temporal = `${address}/${namespace}`;
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
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
      throw new CommandError(`The report ${this.path} can't be read (${(error as NodeJS.ErrnoException).code})`);
    }
    // A call that was killed may have left a line without its end: that flow is asked again.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const done = new Set<string>();
    for (const [index, line] of whole.split('\n').slice(0, -1).entries()) {
      const entry = entrySchema.safeParse(parsed(line));
      if (!entry.success)
        throw new CommandError(`${this.path}, line ${index + 1}, is no report: name another file by --report`);
      const { outcome, at, temporal } = entry.data;
      if (temporal !== this.#temporal) continue;
      const status =
        typeof outcome === 'object' && outcome !== null && 'status' in outcome ? outcome.status : undefined;
      const key = keyOf(entry.data);
      if (entry.data.result === 'outcome' && !OPEN.has(status) && Date.parse(at) > until) done.add(key);
      else done.delete(key);
    }
    if (whole !== text) truncateSync(this.path, Buffer.byteLength(whole));
    return done;
  }

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
    appendFileSync(this.path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    return entry;
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
