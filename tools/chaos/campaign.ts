import type { FlowRun } from './flow-health.js';
import type { LedgerEntry } from './ledger-check.js';

/** What is asked for under the storm, and how it is judged afterwards. */
export interface Campaign {
  /**
   * One caller's turn: asks for the flow of this number. Resolves when its answer is known, or its patience has ended.
   * @param signal asks for nothing more
   */
  visit(number: number, signal: AbortSignal): Promise<void>;
  /** Flows of which all that was asked is known. */
  readonly final: number;
  /**
   * The faults are over: asks on until everything is final.
   * @param limit epoch ms by which it gives up
   */
  finish(limit: number, onWait: (what: string) => void): Promise<void>;
  /** Compares what was told with the ledger of the service. */
  judge(ledger: readonly LedgerEntry[], runs: readonly FlowRun[]): Findings;
  /** Asks for nothing more: the stack is being stopped. */
  abandon(): void;
}

export interface Findings {
  /** As in "charges asked for". */
  what: 'charges' | 'flows';
  asked: number;
  /** Lines of the summary: what was asked for, and what was answered. */
  askedLines: readonly string[];
  answerLines: readonly string[];
  /** Beside the number of movements. */
  movementsNote: string;
  /** One sentence each, beginning with its reference. */
  differences: readonly string[];
  /** Merchant references of the flows. */
  references: readonly string[];
  slowest?: { ms: number; reference: string };
}

const LABEL_WIDTH = 36;

/** A line of the summary: a label, a number, and perhaps what else there is to say. */
export function row(label: string, value: number | string, note = ''): string {
  return `${label.padEnd(LABEL_WIDTH)}${String(value).padStart(8)}${note === '' ? '' : `   ${note}`}`;
}
