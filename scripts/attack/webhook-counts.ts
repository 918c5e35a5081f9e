const ASK_LIMIT_MS = 2_000;

/** `holdfast_webhook_events_total{type="payment.charge.create",version="1.3.0",result="delivered"} 12` */
const SAMPLE = /^holdfast_webhook_(?:events|rejected)_total\{(.*)\} (\d+)$/gm;
const LABEL = /(\w+)="([^"]*)"/g;

/** Events about a payment carry nothing that names a flow, and nothing that one waits for. */
export const ABOUT_THE_PAYMENT = 'about the payment alone';

/** Flows whose events name none find out by asking: such an event costs them time. */
export const NAMES_NO_FLOW = 'without a reconciliation id';

export function isAboutThePayment(eventType: string | undefined): boolean {
  return eventType?.startsWith('payment.payment.') === true;
}

/**
 * The handler can't say why an event named no flow. So many as were sent without a name are expected to; each one more
 * stays `unrouted`, as one that is lost.
 */
export function withoutNameless(counts: ReadonlyMap<string, number>, sent: number): ReadonlyMap<string, number> {
  const unrouted = counts.get('unrouted') ?? 0;
  const nameless = Math.min(unrouted, sent);
  const split = [
    ['unrouted', unrouted - nameless],
    [NAMES_NO_FLOW, nameless],
  ] as const;
  const others = [...counts].filter(([name]) => name !== 'unrouted');
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

function nameOf({ result, reason, type }: { [label: string]: string | undefined }): string {
  if (reason !== undefined) return `refused (${reason})`;
  if (result === 'unrouted' && isAboutThePayment(type)) return ABOUT_THE_PAYMENT;
  return result ?? 'unnamed';
}
