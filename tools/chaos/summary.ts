import { row, type Findings } from './findings.js';
import type { KillCounts } from './kills.js';
import { movements, type LedgerEntry } from '../audit/ledger.js';
import { LOOKS_FOREIGN } from './webhook-counts.js';

/** All results of one run. */
export interface Evidence {
  seed: number;
  concurrency: number;
  loadedForMs: number;
  settledForMs: number;
  findings: Findings;
  ledger: readonly LedgerEntry[];
  /** How often each fault fired. */
  faults: readonly { label: string; count: number }[];
  kills: KillCounts;
  /** Processes that ended without being killed. They were restarted. */
  endedByThemselves: number;
  events: {
    created: number;
    unacknowledged: readonly string[];
    /** By the webhook handler's result. */
    counts: ReadonlyMap<string, number>;
  };
  /** Sentences that begin with the workflow id. */
  flows: { open: readonly string[]; problems: readonly string[]; lostTasks: number };
}

/** Results of events that were delivered, aren't needed or will be redelivered. Any other result is a lost event. */
const NOT_LOST = new Set(['delivered', 'late', 'parked', LOOKS_FOREIGN, 'unavailable', 'overloaded']);

/** Human-readable: figures first, the verdict last. */
export function summaryLines(evidence: Evidence): string[] {
  const { findings, ledger, faults, kills, events, flows } = evidence;
  const { slowest } = findings;
  return [
    `Faults and kills for ${seconds(evidence.loadedForMs)}; all was final ${seconds(evidence.settledForMs)} after the faults ended.`,
    '',
    row('flows asked for', findings.asked, `by ${evidence.concurrency} callers at a time, seed ${evidence.seed}`),
    ...findings.askedLines,
    'faults injected',
    ...faults.map(({ label, count }) => row(`  ${label}`, count)),
    'killed with SIGKILL',
    row('  worker', kills.worker),
    row('  Temporal server', kills.temporal),
    row('  webhook handler', kills.webhook),
    row('ended by themselves', evidence.endedByThemselves),
    ...findings.answerLines,
    'ledger of the payment service',
    row('  transactions', ledger.length),
    row('  movements of money', movements(ledger).length, findings.movementsNote),
    row('  differences from the answers', findings.differences.length),
    'webhook events',
    row('  made by the service', events.created),
    row('  not acknowledged', events.unacknowledged.length),
    ...[...events.counts].sort(([a], [b]) => a.localeCompare(b)).map(([name, count]) => row(`  ${name}`, count)),
    'flows',
    row('  still open', flows.open.length),
    row('  with failed tasks', flows.problems.length),
    row('  tasks lost with a worker', flows.lostTasks),
    row('slowest final answer', slowest === undefined ? '-' : seconds(slowest.ms), slowest?.reference),
    '',
    ...verdictLines(evidence),
  ];
}

/** All violations, one sentence each. Empty if every guarantee held. */
export function violations({ findings, events, flows }: Evidence): string[] {
  const lost = [...events.counts].filter(([name]) => !NOT_LOST.has(name));
  return [
    ...(findings.asked === 0 ? ['nothing was asked for, so nothing is proven'] : []),
    ...findings.differences,
    ...flows.open,
    ...flows.problems,
    ...events.unacknowledged,
    ...lost.map(([name, count]) => `the webhook handler counted ${count} events as ${name}`),
  ];
}

function verdictLines(evidence: Evidence): string[] {
  const found = violations(evidence);
  if (found.length === 0) return ['No money moved twice, nothing is unknown, no hold is left.'];
  const references = new Set(evidence.findings.references);
  const ledgerOf = (sentence: string): string[] => {
    const reference = sentence.split(': ', 1)[0] ?? '';
    if (!references.has(reference)) return [];
    const own = evidence.ledger.filter((entry) => entry.reconciliation_id === reference);
    const payments = new Set(own.map(({ payment_id: id }) => id));
    return evidence.ledger.filter((entry) => payments.has(entry.payment_id)).map(ledgerLine);
  };
  // Sentences of one reference are adjacent, so its ledger lines are printed once.
  return [
    `${found.length === 1 ? 'One thing is' : `${found.length} things are`} wrong:`,
    ...found.flatMap((sentence, index) => {
      const isLast = sentence.split(': ', 1)[0] !== found[index + 1]?.split(': ', 1)[0];
      return [`  ${sentence}`, ...(isLast ? ledgerOf(sentence) : [])];
    }),
  ];
}

function ledgerLine(entry: LedgerEntry): string {
  const { kind, status, amount, currency, transaction_id: id, payment_id: paymentId, idempotency_key: key } = entry;
  const at = new Date(Number(entry.created)).toISOString();
  return `    ledger: ${at} ${kind} ${id} ${status} over ${amount} ${currency}, payment ${paymentId}, key ${key ?? 'none'}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
