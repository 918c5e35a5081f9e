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
      const name = nameOf(Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, value]) => [label, value])));
      counts.set(name, (counts.get(name) ?? 0) + Number(count));
    }
    return counts;
  }
}

function nameOf({ result, reason }: { [label: string]: string | undefined }): string {
  return reason === undefined ? (result ?? 'unnamed') : `refused (${reason})`;
}
