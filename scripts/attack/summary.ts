import type { KillCounts } from './kills.js';
import type { ProfileUnit } from './profile-units.js';
import { movements, type AskedCharge, type LedgerEntry } from './ledger-check.js';
import { ABOUT_THE_PAYMENT, NAMES_NO_FLOW } from './webhook-counts.js';

/** All that was found out in one attack. */
export interface Evidence {
  seed: number;
  concurrency: number;
  /** The charges were spread over them. */
  units: readonly Pick<ProfileUnit, 'name'>[];
  firedForMs: number;
  settledForMs: number;
  asked: readonly AskedCharge[];
  ledger: readonly LedgerEntry[];
  /** One sentence each, beginning with its reference. */
  differences: readonly string[];
  /** How often each fault struck. */
  faults: readonly { label: string; count: number }[];
  kills: KillCounts;
  /** Processes that ended though nobody had killed them; they were started again. */
  endedByThemselves: number;
  events: {
    created: number;
    unacknowledged: readonly string[];
    /** By what the webhook handler did with them. */
    counts: ReadonlyMap<string, number>;
  };
  flows: { open: readonly string[]; problems: readonly string[]; lostTasks: number };
  slowest?: { ms: number; reference: string };
}

/** Taken, of no use to any flow, or sent away to come again. Every other count is of events that are lost. */
const NOT_LOST = new Set([
  'delivered',
  'late',
  ABOUT_THE_PAYMENT,
  NAMES_NO_FLOW,
  'notFound',
  'unavailable',
  'overloaded',
]);
const ANSWERS = ['succeeded', 'declined', 'notExecuted', 'pending', 'unknown'] as const;
const LABEL_WIDTH = 32;

/** For a person: numbers first, the verdict last. */
export function summaryLines(evidence: Evidence): string[] {
  const { asked, ledger, faults, kills, events, flows, slowest } = evidence;
  const told = (wanted: string): number =>
    asked.filter(({ answer, error }) => error === undefined && answer?.status === wanted).length;
  const ofUnit = (name: string): number => asked.filter(({ input }) => input.businessUnit === name).length;
  return [
    `Attacked for ${seconds(evidence.firedForMs)}; all was final ${seconds(evidence.settledForMs)} after the faults ended.`,
    '',
    row('charges asked for', asked.length, `by ${evidence.concurrency} callers at a time, seed ${evidence.seed}`),
    'spread over the profiles of the service',
    ...evidence.units.map(({ name }) => row(`  ${name}`, ofUnit(name))),
    'faults injected',
    ...faults.map(({ label, count }) => row(`  ${label}`, count)),
    'killed with SIGKILL',
    row('  worker', kills.worker),
    row('  Temporal server', kills.temporal),
    row('  webhook handler', kills.webhook),
    row('ended by themselves', evidence.endedByThemselves),
    'answers',
    ...ANSWERS.map((status) => row(`  ${status}`, told(status))),
    row('  none', asked.filter(({ answer, error }) => error === undefined && answer === undefined).length),
    row('  errors', asked.filter(({ error }) => error !== undefined).length),
    'ledger of the payment service',
    row('  transactions', ledger.length),
    row('  movements of money', movements(ledger).length, `for ${told('succeeded')} charges that succeeded`),
    row('  differences from the answers', evidence.differences.length),
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

/** Every fault that was found, none when the promises held. One sentence each. */
export function wrongs({ asked, differences, events, flows }: Evidence): string[] {
  const lost = [...events.counts].filter(([name]) => !NOT_LOST.has(name));
  return [
    ...(asked.length === 0 ? ['no charge was asked for, so nothing is proven'] : []),
    ...differences,
    ...flows.open.map((name) => `${name}: the flow is still open`),
    ...flows.problems,
    ...events.unacknowledged,
    ...lost.map(([name, count]) => `the webhook handler counted ${count} events as ${name}`),
  ];
}

function verdictLines(evidence: Evidence): string[] {
  const found = wrongs(evidence);
  if (found.length === 0) return ['No charge moved money twice; none is unknown.'];
  const references = new Set(evidence.asked.map(({ input }) => input.reference));
  const booksOf = (sentence: string): string[] => {
    const reference = sentence.split(': ', 1)[0] ?? '';
    if (!references.has(reference)) return [];
    return evidence.ledger.filter((entry) => entry.reconciliation_id === reference).map(ledgerLine);
  };
  // Sentences of one reference stand together: its books are shown once.
  return [
    `${found.length === 1 ? 'One thing is' : `${found.length} things are`} wrong:`,
    ...found.flatMap((sentence, index) => {
      const isLast = sentence.split(': ', 1)[0] !== found[index + 1]?.split(': ', 1)[0];
      return [`  ${sentence}`, ...(isLast ? booksOf(sentence) : [])];
    }),
  ];
}

function ledgerLine(entry: LedgerEntry): string {
  const { kind, status, amount, currency, transaction_id: id, payment_id: paymentId, idempotency_key: key } = entry;
  const at = new Date(Number(entry.created)).toISOString();
  return `    ledger: ${at} ${kind} ${id} ${status} over ${amount} ${currency}, payment ${paymentId}, key ${key ?? 'none'}`;
}

function row(label: string, value: number | string, note = ''): string {
  return `${label.padEnd(LABEL_WIDTH)}${String(value).padStart(8)}${note === '' ? '' : `   ${note}`}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
