import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { SandboxControl } from '../../../sandbox/control.js';
import { startSandbox, type SandboxOptions } from '../../../sandbox/server.js';
import { until as untilWanted } from '../../support/until.js';

export const GOOD_CARD = '4111111111111111';
export const FAILING_CARD = '4242424242424242';
export const PENDING_THEN_SUCCEED = '4000000000000077';
export const PENDING_THEN_FAILED = '4000000400000008';

export interface Wire {
  status: number;
  headers: Headers;
  body: WireBody;
  text: string;
}

/** What the tests look at often; the rest is unknown. */
export interface WireBody {
  id: string;
  token: string;
  amount: number;
  currency: string;
  status: string;
  created: string;
  modified: string;
  reconciliation_id?: string;
  additional_details?: Record<string, string>;
  result: { status: string; category?: string; sub_category?: string };
  category?: string;
  description?: string;
  more_info?: string;
  [field: string]: unknown;
}

/** The API as a merchant calls it; every header can be replaced or, by undefined, left out. */
export class Api {
  constructor(
    readonly url: string,
    private readonly defaults: Record<string, string | undefined> = {},
  ) {}

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | undefined> = {},
  ): Promise<Wire> {
    const all = {
      'content-type': body === undefined ? undefined : 'application/json',
      'api-version': '1.3.0',
      'x-svc-env': 'test',
      'app-id': 'holdfast-sandbox',
      'private-key': 'sandbox-private-key',
      ...this.defaults,
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const raw = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(`${this.url}${path}`, {
      method,
      redirect: 'manual',
      headers: Object.fromEntries(given),
      ...(raw === undefined ? {} : { body: raw }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: parse(text) };
  }

  get(path: string, headers?: Record<string, string | undefined>): Promise<Wire> {
    return this.call('GET', path, undefined, headers);
  }

  post(path: string, body: unknown, headers?: Record<string, string | undefined>): Promise<Wire> {
    return this.call('POST', path, body, headers);
  }

  createPayment(content: object = {}, key: string = randomUUID()): Promise<Wire> {
    return this.post('/payments', { amount: 1095, currency: 'USD', ...content }, { 'idempotency-key': key });
  }

  charge(paymentId: string, token: string, extra: object = {}, key: string = randomUUID()): Promise<Wire> {
    const body = { payment_method: { type: 'tokenized', token }, ...extra };
    return this.post(`/payments/${paymentId}/charges`, body, { 'idempotency-key': key });
  }
}

function parse(text: string): Wire['body'] {
  try {
    return JSON.parse(text) as Wire['body'];
  } catch {
    return {} as Wire['body'];
  }
}

export interface TestSandbox {
  url: string;
  api: Api;
  control: SandboxControl;
  stateDir: string;
  /** Token, payment and charge in one. */
  charged(card?: string, extra?: object): Promise<{ paymentId: string; token: string; charge: Wire }>;
  /** Stops it and starts it again on the same state and port. */
  restart(options?: Partial<SandboxOptions>): Promise<void>;
  close(): Promise<void>;
}

export async function startTestSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const stateDir = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
  let running = await startSandbox({ stateDir, ...options });
  const { url } = running;
  const api = new Api(url);
  const control = new SandboxControl(url);
  return {
    url,
    api,
    control,
    stateDir,
    async charged(card = GOOD_CARD, extra = {}) {
      const { token } = await control.tokenize(card);
      const payment = await api.createPayment();
      return { paymentId: payment.body.id, token, charge: await api.charge(payment.body.id, token, extra) };
    },
    async restart(changed = {}) {
      await running.close();
      running = await startSandbox({ stateDir, ...options, ...changed, port: Number(new URL(url).port) });
      // The pooled connections of this process may still be those that the old sandbox closed.
      await until(() => control.health().catch(() => undefined));
    },
    async close() {
      await running.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** Asks until the answer is defined. */
export async function until<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const answer = await untilWanted(
    async () => await ask(),
    (each) => each !== undefined,
  );
  if (answer === undefined) throw new Error('never');
  return answer;
}

/** An authorized payment, with an amount whose captures and refunds succeed. */
export async function authorized(
  { api, control }: Pick<TestSandbox, 'api' | 'control'>,
  { amount = 6_000, card = GOOD_CARD, ...content }: { amount?: number; card?: string } & Record<string, unknown> = {},
  extra: object = {},
): Promise<{ paymentId: string; path: string; authorization: Wire }> {
  const { token } = await control.tokenize(card);
  const payment = await api.createPayment({ amount, ...content });
  const path = `/payments/${payment.body.id}`;
  const body = { payment_method: { type: 'tokenized', token }, ...extra };
  return { paymentId: payment.body.id, path, authorization: await api.post(`${path}/authorizations`, body) };
}

/** A business unit of its own, and the API as it calls it. */
export async function unitWith(
  { control, url }: Pick<TestSandbox, 'control' | 'url'>,
  profile: NonNullable<Parameters<SandboxControl['putBusinessUnit']>[0]['profile']>,
): Promise<{ api: Api; tokenize: (card?: string) => Promise<string> }> {
  const unit = await control.putBusinessUnit({ app_id: `unit-${randomUUID()}`, profile });
  return {
    api: new Api(url, { 'app-id': unit.app_id, 'private-key': unit.private_key }),
    tokenize: async (card = GOOD_CARD) =>
      (await control.tokenize({ cardNumber: card, publicKey: unit.public_key })).token,
  };
}
