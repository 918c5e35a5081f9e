import { movements, requestsOf, type LedgerEntry } from '../audit/ledger.js';
import { row, type Findings } from './findings.js';
import type { KillCounts } from './kills.js';

const ASK_LIMIT_MS = 2_000;

/** Matches `holdfast_webhook_events_total{type="payment.charge.create",version="1.3.0",result="delivered"} 12` */
const SAMPLE = /^holdfast_webhook_(?:events|rejected)_total\{(.*)\} (\d+)$/gm;
const LABEL = /(\w+)="([^"]*)"/g;

/**
 * An event without a reference is routed by what the service says of its payment. If the service doesn't echo our
 * details, such an event looks foreign, and a poll finds the result instead.
 */
export const LOOKS_FOREIGN = 'foreign to a service that echoes nothing';

/** Counts as many foreign events under `LOOKS_FOREIGN` as such services have sent. Each further one is lost. */
export function withoutLooksForeign(counts: ReadonlyMap<string, number>, sent: number): ReadonlyMap<string, number> {
  const foreign = counts.get('foreign') ?? 0;
  const excused = Math.min(foreign, sent);
  const split = [
    ['foreign', foreign - excused],
    [LOOKS_FOREIGN, excused],
  ] as const;
  const others = [...counts].filter(([name]) => name !== 'foreign');
  return new Map([...others, ...split.filter(([, count]) => count > 0)]);
}

/**
 * Counters of the webhook handler, summed over its restarts. A restart resets them to 0, so they are read before each
 * kill. Events counted between that read and the kill are missed.
 */
export class WebhookCounts {
  readonly #metricsUrl: string;
  readonly #ofEarlierLives = new Map<string, number>();

  constructor(metricsUrl: string) {
    this.#metricsUrl = metricsUrl;
  }

  /** Saves the counters of the process that is about to be killed. Never rejects. */
  async keep(): Promise<void> {
    const counts = await this.#read().catch(() => new Map<string, number>());
    for (const [name, count] of counts) this.#ofEarlierLives.set(name, (this.#ofEarlierLives.get(name) ?? 0) + count);
  }

  /** Number of events by result, and of refused requests by reason. */
  async all(): Promise<ReadonlyMap<string, number>> {
    const counts = await this.#read();
    for (const [name, count] of this.#ofEarlierLives) counts.set(name, (counts.get(name) ?? 0) + count);
    return counts;
  }

  async #read(): Promise<Map<string, number>> {
    const answer = await fetch(this.#metricsUrl, { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
    const counts = new Map<string, number>();
    for (const [, labels = '', count] of (await answer.text()).matchAll(SAMPLE)) {
      // The handler shows reasons that it has not yet refused anything for.
      if (count === '0') continue;
      const name = nameOf(Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, value]) => [label, value])));
      counts.set(name, (counts.get(name) ?? 0) + Number(count));
    }
    return counts;
  }
}

/** The one event that no flow has a use for. */
const OF_NO_USE = 'unrouted: a payment was created';

function nameOf({ type, result, reason }: { [label: string]: string | undefined }): string {
  if (result === 'unrouted' && type === 'payment.payment.create') return OF_NO_USE;
  return reason === undefined ? (result ?? 'unnamed') : `refused (${reason})`;
}

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
  flows: { open: readonly string[]; problems: readonly string[]; lostTasks: number; firstTasksAgain: number };
}

/** Results of events that were delivered, aren't needed or will be redelivered. Any other result is a lost event. */
const NOT_LOST = new Set(['delivered', 'late', 'parked', LOOKS_FOREIGN, OF_NO_USE, 'unavailable', 'overloaded']);

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
    row('  transactions', requestsOf(ledger).length),
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
    row('  first tasks run again for a message', flows.firstTasksAgain),
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
