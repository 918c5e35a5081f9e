import { createServer } from 'node:http';
import type { FaultInput, SandboxControl } from '../../sandbox/control.js';
import { verifyNotification } from '../../src/client/index.js';
import { listenLocally } from '../stack/ports.js';

/** A notification of a subscription to the merchant. */
interface Notification {
  id: string;
  type: string;
}

/** The merchant's endpoint for notifications. It accepts only signed ones and counts the others. */
export interface Merchant {
  url: string;
  /** Each notification once, in order of arrival. */
  notifications: readonly Notification[];
  /** Number of requests that were refused for a wrong signature. */
  readonly refused: number;
  close(): void;
}

export async function openMerchant(secret: string): Promise<Merchant> {
  const notifications: Notification[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id, type } = verifyNotification(
        { headers: request.headers, body: Buffer.concat(chunks) },
        { secrets: secret },
      );
      // Delivery is at least once: a repeated notification is accepted but counted once.
      if (!notifications.some((one) => one.id === id)) notifications.push({ id, type });
      response.writeHead(204).end();
    })().catch(() => {
      refused += 1;
      response.writeHead(401).end();
    });
  });
  return {
    url: `${await listenLocally(server)}/subscriptions`,
    notifications,
    get refused() {
      return refused;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Suffix of each flow's reference, in the order in which the flows are shown. */
export const FLOW_NAMES = [
  'succeeds',
  'declined',
  'reply-lost',
  'part-captured',
  'race',
  'deadline',
  'refund',
  'review',
  'credit',
  'card',
  'reauthorized',
  'subscription',
  'worker-killed',
  'webhook',
  'webhook-lost',
] as const;
export type FlowName = (typeof FLOW_NAMES)[number];

/** A later operation on a payment has its flow's reference followed by a number. */
const PATTERN = new RegExp(`^demo-[0-9a-z]{8,9}-(${FLOW_NAMES.join('|')})(-\\d+)?$`);

/** Makes the references for one run of the demo. A reference can be used only once, so each run needs new ones. */
export function referencesOf(startedAt: number): (name: FlowName) => string {
  const stamp = startedAt.toString(36);
  return (name) => `demo-${stamp}-${name}`;
}

/** Whether the id is a flow's reference or made of it, and not of another flow's whose name begins alike. */
export function isMadeOf(id: string, reference: string): boolean {
  const begins = (whole: string): boolean => id === whole || id.startsWith(`${whole}-`) || id.startsWith(`${whole}.`);
  const others = FLOW_NAMES.map((name) => reference.replace(/^(demo-[0-9a-z]+-).*$/, `$1${name}`));
  return begins(reference) && !others.some((other) => other.startsWith(`${reference}-`) && begins(other));
}

function isDemoReference(reference: string): boolean {
  return PATTERN.test(reference);
}

/** A fault of a demo flow. It is always bound to that flow's reference. */
export type DemoFault = Omit<FaultInput, 'reconciliation_id'>;

/** Faults of this demo only. Faults of others are never touched. */
export class OwnFaults {
  readonly #sandbox: SandboxControl;
  readonly #planted = new Set<string>();
  #over = false;

  constructor(sandbox: SandboxControl) {
    this.#sandbox = sandbox;
  }

  /** @returns the fault's id */
  async plant(reference: string, fault: DemoFault): Promise<string> {
    if (this.#over) throw new Error('the demo is over: no fault is planted any more');
    const { id } = await this.#sandbox.addFault({ ...fault, reconciliation_id: reference });
    this.#planted.add(id);
    // The request was under way while `removeAll` ran.
    if (this.#over) await this.#remove();
    return id;
  }

  /** How often the fault has fired. */
  async timesFired(id: string): Promise<number> {
    return (await this.#sandbox.faults()).find((fault) => fault.id === id)?.fired ?? 0;
  }

  /** Removes the faults for good; may be called repeatedly. Never rejects, because the sandbox may have stopped. */
  async removeAll(): Promise<void> {
    this.#over = true;
    await this.#remove();
  }

  async #remove(): Promise<void> {
    const ids = [...this.#planted];
    this.#planted.clear();
    await Promise.allSettled(ids.map((id) => this.#sandbox.removeFault(id)));
  }

  /** Removes faults that a killed demo has left behind. They can no longer match any request. */
  async removeLeftOver(): Promise<void> {
    const left = (await this.#sandbox.faults()).filter(
      ({ reconciliation_id: reference }) => reference !== undefined && isDemoReference(reference),
    );
    await Promise.allSettled(left.map(({ id }) => this.#sandbox.removeFault(id)));
  }
}
