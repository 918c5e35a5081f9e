import type { DeliveryView, Health, SandboxControl } from '../../sandbox/control.js';
import type { FlowRow } from '../../src/cli/flow-row.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { LedgerEntry } from '../../tools/audit/ledger.js';
import type { About } from '../../tools/console/answers.js';
import { createConsole, type ConsoleParts } from '../../tools/console/server.js';
import { InMemoryHoldfast } from '../../tools/testing/in-memory-holdfast.js';

/** Port that requests name. Nothing listens. */
export const PORT = 4040;
export const OWN = `http://127.0.0.1:${PORT}`;

export const CHECKOUT = {
  flow: 'charge',
  reference: 'shop-1',
  amount: '10.95',
  currency: 'USD',
  token: '5a1e8bd4-7a3e-4c8a-9c5f-0d9f3c3f6a11',
};

export const ABOUT: About = {
  sandboxUrl: 'http://127.0.0.1:4010',
  uiUrl: 'http://127.0.0.1:8233',
  publicKey: 'public',
  cards: [],
  currencies: [],
  faults: [],
};

/** A charge of 60.00 USD that succeeded. */
export function flow(changes: Partial<FlowRow>): FlowRow {
  const reference = changes.reference ?? 'shop-1';
  return {
    reference,
    workflowId: paymentWorkflowId(reference),
    type: 'charge',
    status: 'succeeded',
    waitingFor: 'nothing',
    since: '2026-11-26T10:00:00.000Z',
    dueAt: null,
    execution: 'completed',
    needsOperator: false,
    overdue: false,
    amount: 6_000,
    currency: 'USD',
    paymentId: 'p-1',
    ...changes,
  };
}

let entries = 0;
/** A transaction of payment `p-1` in USD. Each is later than the one before. */
export function entry(kind: string, amount: number, status = 'Succeed'): LedgerEntry {
  entries += 1;
  return {
    kind,
    payment_id: 'p-1',
    transaction_id: `t-${entries}`,
    amount,
    currency: 'USD',
    status,
    idempotency_key: `key-${entries}`,
    reconciliation_id: 'shop-1',
    created: String(1_795_000_000_000 + entries),
  };
}

export function delivery(changes: Partial<DeliveryView> = {}): DeliveryView {
  return {
    id: 'd-1',
    status: 'delivered',
    attempts: 1,
    event_type: 'payment.charge.create',
    event_id: 'e-1',
    url: 'http://127.0.0.1:4020/webhooks',
    version: '1.3.0',
    app_id: 'holdfast-sandbox',
    env: 'test',
    payment_id: 'p-1',
    transaction_id: 't-1',
    reconciliation_id: 'shop-1',
    request_id: 'r-1',
    created: '1795000000000',
    next_at: null,
    last_status: 200,
    last_error: null,
    ...changes,
  };
}

type Faults = Awaited<ReturnType<SandboxControl['faults']>>;

/** Keeps what it is asked to do. */
class FakeSandbox implements Pick<SandboxControl, keyof ConsoleParts['sandbox']> {
  readonly calls: unknown[][] = [];
  entries: LedgerEntry[] = [];
  events = [delivery()];
  /** Thrown by every call. */
  fails: Error | undefined;
  readonly #faults: Faults = [];

  async health(): Promise<Health> {
    this.#check();
    return { now: '2026-11-26T10:00:00.000Z', clock_offset_ms: 0 } as Health;
  }

  async ledgerOf(): Promise<LedgerEntry[]> {
    this.#check();
    return this.entries;
  }

  async deliveries(): Promise<DeliveryView[]> {
    this.#check();
    return this.events;
  }

  async resend(id: string): Promise<DeliveryView> {
    this.#keep('resend', id);
    return delivery({ id, attempts: 2 });
  }

  async faults(): Promise<Faults> {
    this.#check();
    return this.#faults;
  }

  async addFault(input: Parameters<SandboxControl['addFault']>[0]): Promise<Faults[number]> {
    this.#keep('addFault', input);
    const planted = { probability: 1, ...input, id: `f-${this.#faults.length + 1}`, fired: 0 } as Faults[number];
    this.#faults.push(planted);
    return planted;
  }

  async removeFault(id: string): Promise<void> {
    this.#keep('removeFault', id);
  }

  async advanceClock(ms: number): Promise<Health> {
    this.#keep('advanceClock', ms);
    return this.health();
  }

  #keep(...call: unknown[]): void {
    this.#check();
    this.calls.push(call);
  }

  #check(): void {
    if (this.fails !== undefined) throw this.fails;
  }
}

/** The server with what it uses in memory. It does not listen, so there is nothing to close. */
export class TestConsole {
  readonly sandbox = new FakeSandbox();
  readonly holdfast = new InMemoryHoldfast();
  /** Flows as visibility has them. */
  rows: FlowRow[] = [];
  /** What it has logged. */
  readonly errors: unknown[][] = [];
  readonly server: ReturnType<typeof createConsole>;

  constructor(about: Partial<About> = {}) {
    const explain = async (ref: unknown): Promise<string> => `explained ${JSON.stringify(ref)}`;
    this.server = createConsole({
      // What a card on file and a subscription need is tested against a real stack.
      holdfast: Object.assign(this.holdfast, { explain }) as unknown as ConsoleParts['holdfast'],
      flows: {
        list: async () => this.rows,
        find: async (workflowId) => this.rows.find((row) => row.workflowId === workflowId),
      },
      sandbox: this.sandbox,
      about: { ...ABOUT, ...about },
      linkTo: (workflowId) => `http://ui/${workflowId}`,
      logger: { error: (...said: unknown[]) => void this.errors.push(said) } as unknown as ConsoleParts['logger'],
      port: PORT,
    });
  }

  /** Calls it as its own page does. */
  async call(
    url: string,
    payload?: object,
    method: 'GET' | 'POST' | 'DELETE' = payload ? 'POST' : 'GET',
  ): Promise<{ status: number; body: unknown }> {
    const headers = { host: `127.0.0.1:${PORT}`, ...(method !== 'GET' && { origin: OWN }) };
    const answer = await this.server.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
    return { status: answer.statusCode, body: answer.json<unknown>() };
  }
}
