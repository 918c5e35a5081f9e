import { createHash } from 'node:crypto';
import { Agent, request, type Dispatcher } from 'undici';
import type { Logger } from 'pino';
import { sign, signedText } from '../src/webhook/signature.js';
import type { SandboxClock, Schedule } from './schedule.js';
import type { Delivery, WebhookVersion } from './webhook-records.js';
import type { Settings } from './settings.js';
import type { Store } from './store.js';

/** How long an event without a 2xx is resent. */
const RESEND_FOR_MS = 24 * 3_600_000;
const LONGEST_PAUSE_MS = 3_600_000;
const RECEIVER_TIMEOUT_MS = 10_000;
/** The clock was advanced by at least so much while an event was being sent. */
const BEHIND_MS = 500;
/**
 * Finished deliveries older than this are deleted, so that the list stays bounded. What was given up stays: a receiver has
 * lost that, and whoever looks later must see it.
 */
const KEEP_FINISHED_MS = 2 * RESEND_FOR_MS;

interface Parts {
  store: Store;
  clock: SandboxClock;
  schedule: Schedule;
  settings: Settings;
  log: Logger;
  closing: AbortSignal;
  /** Dispatcher that sends the events and is not closed here; undefined: own connections. */
  dispatcher?: Dispatcher | undefined;
}

/** Sends events to their endpoints until a 2xx, for at most 24 h, with doubling pauses. */
export class Deliveries {
  private readonly dispatcher: Dispatcher;
  /** First attempts of one payment to one endpoint are sent one after the other if they are to arrive in order. */
  private readonly queues = new Map<string, Promise<void>>();
  /** Events that the clock has overtaken: their next attempts are made at once, each as at the time when it was due. */
  private readonly behind = new Set<string>();
  /** Ids of the deliveries to be deleted one day, about in the order in which they were made. */
  private readonly finished = new Set<string>();

  constructor(private readonly parts: Parts) {
    this.dispatcher =
      parts.dispatcher ?? new Agent({ connections: 256, headersTimeout: RECEIVER_TIMEOUT_MS, bodyTimeout: 5_000 });
  }

  /** Within a store transaction: stores the event and sends it once the transaction is on disk. */
  enqueue(delivery: Delivery, body: string): void {
    this.parts.store.deliveries.put(delivery, body);
    this.forgetFinished();
    this.note(delivery);
    if (delivery.status === 'pending') this.schedule(delivery);
  }

  /** At boot: continues with deliveries that were not acknowledged. */
  resume(): void {
    for (const delivery of this.parts.store.deliveries.values()) {
      this.note(delivery);
      if (delivery.status === 'pending') this.schedule(delivery);
    }
  }

  /** Sends an event now, whatever its status is, and again for a day. */
  resend(delivery: Delivery): Delivery {
    this.behind.delete(delivery.id);
    const now = this.parts.clock.now();
    return this.update({ ...delivery, status: 'pending', nextAt: now, resentAt: now });
  }

  /** Cancels the deliveries of an endpoint that was removed. */
  cancelFor(endpointId: string): void {
    for (const delivery of this.parts.store.deliveries.values()) {
      if (delivery.endpointId !== endpointId || delivery.status !== 'pending') continue;
      this.parts.schedule.cancel(jobKey(delivery.id));
      this.update({ ...delivery, status: 'cancelled' });
    }
  }

  async close(): Promise<void> {
    if (this.parts.dispatcher === undefined) await this.dispatcher.destroy();
  }

  private schedule({ id, nextAt }: Delivery): void {
    this.parts.store.afterCommit(() => this.parts.schedule.at(jobKey(id), nextAt, () => this.send(id)));
  }

  private send(id: string): void {
    const delivery = this.parts.store.deliveries.get(id);
    if (delivery === undefined) return;
    const isInOrder = delivery.attempts === 0 && this.parts.settings.eventOrder === 'kept';
    const queue = isInOrder ? `${delivery.endpointId} ${delivery.paymentId}` : id;
    const before = this.queues.get(queue);
    const offset = Date.now() - (this.behind.has(id) ? delivery.nextAt : this.parts.clock.now());
    const attempt = (): Promise<void> => this.attempt(id, () => Date.now() - offset);
    const sent = (before === undefined ? attempt() : before.then(attempt))
      .catch((error: unknown) => this.parts.log.error({ err: error, delivery: id }, 'webhook delivery failed'))
      .finally(() => {
        if (this.queues.get(queue) === sent) this.queues.delete(queue);
      });
    this.queues.set(queue, sent);
  }

  /** @param ownNow the time as it passes for this event, whatever the clock has been advanced by since */
  private async attempt(id: string, ownNow: () => number): Promise<void> {
    const { store, closing } = this.parts;
    const delivery = store.deliveries.get(id);
    if (delivery === undefined || delivery.status !== 'pending' || closing.aborted) return;
    const unit = store.units.get(delivery.appId);
    const body = store.cold(store.deliveries, id);
    if (unit === undefined || body === undefined) return;
    const outcome = await this.post(delivery, body, unit.privateKey);
    const now = store.deliveries.get(id);
    // Its endpoint may have been removed meanwhile.
    if (closing.aborted || now === undefined || now.status !== 'pending') return;
    // An earlier attempt's status must not answer for this one, which may not have arrived.
    const { lastStatus: _status, lastError: _error, ...kept } = now;
    this.settle({ ...kept, ...outcome, attempts: now.attempts + 1 }, ownNow());
  }

  private async post(
    delivery: Delivery,
    body: string,
    privateKey: string,
  ): Promise<{ lastStatus?: number; lastError?: string }> {
    // `AbortSignal.any` would leave a reference to each attempt at the closing signal for as long as the process lives.
    const { closing } = this.parts;
    const attempt = new AbortController();
    const stop = (): void => attempt.abort();
    closing.addEventListener('abort', stop);
    const late = new Error(`no answer within ${RECEIVER_TIMEOUT_MS / 1_000} s`);
    const timer = setTimeout(() => attempt.abort(late), RECEIVER_TIMEOUT_MS);
    try {
      const answer = await request(delivery.url, {
        method: 'POST',
        body,
        dispatcher: this.dispatcher,
        signal: attempt.signal,
        headers: {
          'content-type': 'application/json',
          ...proof(delivery, body, privateKey),
          version: delivery.version,
          'x-svc-env': delivery.env,
          'x-svc-request-id': delivery.requestId,
        },
      });
      await answer.body.dump();
      return { lastStatus: answer.statusCode };
    } catch (error) {
      return { lastError: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    } finally {
      clearTimeout(timer);
      closing.removeEventListener('abort', stop);
    }
  }

  private settle(delivery: Delivery, now: number): void {
    const { clock, settings, log } = this.parts;
    if (clock.now() - now > BEHIND_MS) this.behind.add(delivery.id);
    else this.behind.delete(delivery.id);
    const acknowledged = delivery.lastStatus !== undefined && Math.floor(delivery.lastStatus / 100) === 2;
    if (acknowledged && delivery.repeats === 0) {
      this.update({ ...delivery, status: 'delivered', wasTaken: true });
    } else if (acknowledged) {
      this.update({ ...delivery, repeats: delivery.repeats - 1, nextAt: now, wasTaken: true });
    } else {
      const pause = Math.min(settings.resendFirstMs * 2 ** Math.min(delivery.attempts - 1, 30), LONGEST_PAUSE_MS);
      const over = now + pause > (delivery.resentAt ?? delivery.created) + RESEND_FOR_MS;
      // Sent again by hand it may be refused, and yet it was not lost.
      if (over && delivery.wasTaken === true) return void this.update({ ...delivery, status: 'delivered' });
      if (over) log.warn({ delivery: delivery.id, event: delivery.eventType }, 'event given up after 24 h');
      this.update({ ...delivery, status: over ? 'given_up' : 'pending', nextAt: now + pause });
    }
  }

  private update(delivery: Delivery): Delivery {
    this.parts.store.transaction(() => {
      this.parts.store.deliveries.put(delivery);
      this.note(delivery);
      if (delivery.status === 'pending') this.schedule(delivery);
    });
    return delivery;
  }

  private note({ id, status }: Delivery): void {
    if (status === 'pending' || status === 'given_up') this.finished.delete(id);
    else this.finished.add(id);
  }

  private forgetFinished(): void {
    const { store, clock } = this.parts;
    let left = 10;
    for (const id of this.finished) {
      const delivery = store.deliveries.get(id);
      if ((left -= 1) < 0 || (delivery !== undefined && delivery.created + KEEP_FINISHED_MS > clock.now())) break;
      this.finished.delete(id);
      this.behind.delete(id);
      store.deliveries.delete(id);
    }
  }
}

function jobKey(id: string): string {
  return `deliver:${id}`;
}

/** Returns the headers by which a receiver verifies an event. */
function proof({ version, eventType }: Delivery, body: string, privateKey: string): Record<string, string> {
  if (isUnsigned(version)) return { digest: createHash('sha256').update(body).digest('hex') };
  return { 'event-type': eventType, signature: sign(signedText(eventType, JSON.parse(body)), privateKey) };
}

function isUnsigned(version: WebhookVersion): boolean {
  return version === '1.0.0' || version === '1.0.1';
}
