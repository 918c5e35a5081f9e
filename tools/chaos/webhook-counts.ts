const ASK_LIMIT_MS = 2_000;

/** `holdfast_webhook_events_total{type="payment.charge.create",version="1.3.0",result="delivered"} 12` */
const SAMPLE = /^holdfast_webhook_(?:events|rejected)_total\{(.*)\} (\d+)$/gm;
const LABEL = /(\w+)="([^"]*)"/g;

/**
 * What the service says of a payment is how an event without a reference finds its flow. Where it says nothing of ours,
 * such an event looks like one of somebody else's payment, and a poll ends what it would have.
 */
export const LOOKS_FOREIGN = 'foreign to a service that echoes nothing';

/** So many as such services have sent may look foreign; each one more is lost. */
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
 * What the webhook handler counted, over all its lives: each one's counters begin at 0 again, so they are read
 * before it is killed. What it counts in its last moment is not seen.
 */
export class WebhookCounts {
  readonly #metricsUrl: string;
  readonly #ofEarlierLives = new Map<string, number>();

  constructor(metricsUrl: string) {
    this.#metricsUrl = metricsUrl;
  }

  /** Keeps what the life that is about to end has counted. Never rejects. */
  async keep(): Promise<void> {
    const counts = await this.#read().catch(() => new Map<string, number>());
    for (const [name, count] of counts) this.#ofEarlierLives.set(name, (this.#ofEarlierLives.get(name) ?? 0) + count);
  }

  /** Events by what became of them, and requests that were refused by reason. */
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
