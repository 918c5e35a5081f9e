import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { FlowRow } from '../../src/cli/flow-row.js';
import { paymentActionsWorkflowId, paymentWorkflowId } from '../../src/contract/names.js';
import { InMemoryHoldfast } from '../../tools/testing/in-memory-holdfast.js';
import type { Overview, PaymentDetails, Refusal } from '../../tools/console/answers.js';
import { FAULT_KINDS } from '../../tools/console/fault-kinds.js';
import { createConsole, type ConsoleParts } from '../../tools/console/server.js';
import { ABOUT, delivery, entry, FakeSandbox, flow, PORT } from './parts.js';

let sandbox: FakeSandbox;
let rows: FlowRow[];
let holdfast: InMemoryHoldfast;
let errors: unknown[];
let server: ReturnType<typeof createConsole>;
const opened: (typeof server)[] = [];

function open(about: Partial<ConsoleParts['about']> = {}): typeof server {
  const explain = async (ref: unknown) => `explained ${JSON.stringify(ref)}`;
  const made = createConsole({
    // What a card on file and a subscription need is tested against a real stack.
    holdfast: Object.assign(holdfast, { explain }) as unknown as ConsoleParts['holdfast'],
    flows: {
      list: async () => rows,
      find: async (workflowId) => rows.find((row) => row.workflowId === workflowId),
    },
    sandbox,
    about: { ...ABOUT, ...about },
    linkTo: (workflowId) => `http://ui/${workflowId}`,
    logger: { error: (...said: unknown[]) => void errors.push(said) } as unknown as ConsoleParts['logger'],
    port: PORT,
  });
  opened.push(made);
  return made;
}

beforeEach(() => {
  sandbox = new FakeSandbox();
  rows = [];
  holdfast = new InMemoryHoldfast();
  errors = [];
  server = open();
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

const OWN = `http://127.0.0.1:${PORT}`;

async function call(url: string, body?: object, method: 'GET' | 'POST' | 'DELETE' = body ? 'POST' : 'GET') {
  const headers = { host: `127.0.0.1:${PORT}`, ...(method !== 'GET' && { origin: OWN }) };
  const answer = await server.inject({ method, url, headers, ...(body !== undefined && { payload: body }) });
  return { status: answer.statusCode, body: answer.json<unknown>() };
}

const CHECKOUT = {
  flow: 'charge',
  reference: 'shop-1',
  amount: '10.95',
  currency: 'USD',
  token: '5a1e8bd4-7a3e-4c8a-9c5f-0d9f3c3f6a11',
};

describe('requests that a page of another site can make a browser send', () => {
  const json = { 'content-type': 'application/json' };
  const posted = { host: `127.0.0.1:${PORT}`, origin: OWN, ...json };
  test.each<[what: string, method: 'GET' | 'POST' | 'DELETE', url: string, headers: Record<string, string>]>([
    ['a name that resolves to this machine', 'GET', '/api/overview', { host: `rebound.example:${PORT}` }],
    ['such a name, for the page itself', 'GET', '/', { host: `rebound.example:${PORT}` }],
    ['a name that begins as ours', 'GET', '/', { host: `127.0.0.1.rebound.example:${PORT}` }],
    ['another port', 'GET', '/', { host: '127.0.0.1:4010' }],
    ['another origin', 'POST', '/api/checkout', { ...posted, origin: 'https://elsewhere.example' }],
    ['another port of this machine', 'POST', '/api/checkout', { ...posted, origin: 'http://127.0.0.1:3000' }],
    ['our name under https', 'POST', '/api/checkout', { ...posted, origin: `https://127.0.0.1:${PORT}` }],
    ['another of our names', 'POST', '/api/checkout', { ...posted, origin: `http://localhost:${PORT}` }],
    ['a page without an origin', 'POST', '/api/checkout', { ...posted, origin: 'null' }],
    ['no origin', 'POST', '/api/checkout', { host: posted.host, ...json }],
    ['no origin, to remove', 'DELETE', '/api/faults/1', { host: posted.host }],
    ['another origin that reads', 'GET', '/api/overview', { host: posted.host, origin: 'https://elsewhere.example' }],
    ['another site, by its metadata', 'GET', '/api/overview', { host: posted.host, 'sec-fetch-site': 'same-site' }],
    ['a form', 'POST', '/api/checkout', { ...posted, 'content-type': 'application/x-www-form-urlencoded' }],
    ['a form of text', 'POST', '/api/checkout', { ...posted, 'content-type': 'text/plain' }],
    ['no content type', 'POST', '/api/deliveries/1/resend', { host: posted.host, origin: OWN }],
  ])('are refused: %s', async (_what, method, url, headers) => {
    const payload = headers['content-type'] === undefined ? {} : { payload: JSON.stringify(CHECKOUT) };
    const answer = await server.inject({ method, url, headers, ...payload });
    expect(answer.statusCode).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(holdfast.moneyMoved('shop-1')).toBe(0);
    expect(sandbox.calls).toEqual([]);
  });

  test.each([`127.0.0.1:${PORT}`, `localhost:${PORT}`, `[::1]:${PORT}`])('are served under %s', async (host) => {
    const page = await server.inject({ url: '/', headers: { host, 'sec-fetch-site': 'cross-site' } });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const headers = { host, origin: `http://${host}`, ...json };
    const paid = await server.inject({ method: 'POST', url: '/api/checkout', headers, payload: CHECKOUT });
    expect(paid.statusCode).toBe(200);
  });
});

describe('the page', () => {
  test('may load nothing from elsewhere, and call only the sandbox', async () => {
    const { headers } = await server.inject({ url: '/', headers: { host: `127.0.0.1:${PORT}` } });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`connect-src 'self' ${ABOUT.sandboxUrl};`);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  test('serves its own files and no other', async () => {
    const get = async (url: string) =>
      (await server.inject({ url, headers: { host: `127.0.0.1:${PORT}` } })).statusCode;
    for (const url of ['/main.js', '/console.css', '/icon.svg']) expect(await get(url)).toBe(200);
    for (const url of ['/tsconfig.json', '/../server.ts', '/%2e%2e/server.ts', '/package.json', '/index.html']) {
      expect(await get(url)).toBe(404);
    }
  });
});

describe('a checkout', () => {
  test('says what happened, and asked again it is the same payment', async () => {
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await call('/api/checkout', CHECKOUT);
      expect(status).toBe(200);
      expect(body).toEqual({
        workflowId: paymentWorkflowId('shop-1'),
        status: 'succeeded',
        said: {
          what: 'Succeeded: 10.95 USD taken',
          tone: 'good',
          known: 'by the reply of the service',
          toDo: 'Nothing.',
        },
        isKnown: true,
      });
    }
    expect(holdfast.moneyMoved('shop-1')).toBe(1_095);
  });

  test('does not call unknown what is declined, nor declined what is unknown', async () => {
    holdfast.plan('shop-1', { status: 'unknown' }, { status: 'declined', category: 'insufficient_funds' });
    const unknown = await call('/api/checkout', CHECKOUT);
    expect(unknown.body).toMatchObject({ isKnown: false, said: { tone: 'waiting', waitsFor: expect.any(String) } });
    const declined = await call('/api/checkout', CHECKOUT);
    expect(declined.body).toMatchObject({
      isKnown: true,
      said: { what: 'Declined: insufficient funds. Nothing was taken', tone: 'bad' },
    });
  });

  test.each([
    [{ ...CHECKOUT, amount: '10.955' }, 'amount: 10.955 holds a fraction of the minor unit of USD'],
    [{ ...CHECKOUT, amount: '-1' }, 'amount: '],
    [{ ...CHECKOUT, currency: 'XXX' }, 'currency: '],
    [{ ...CHECKOUT, reference: 'no blanks' }, 'reference: '],
    [{ ...CHECKOUT, token: 'none' }, 'paymentMethod.token: '],
    [{ ...CHECKOUT, more: 1 }, 'more'],
  ])('that can’t be used is refused with its field: %#', async (body, fault) => {
    const answer = await call('/api/checkout', body);
    expect(answer.status).toBe(400);
    expect((answer.body as Refusal).error.faults.join()).toContain(fault);
    expect(holdfast.moneyMoved('shop-1')).toBe(0);
  });

  test('of another request under the same reference is refused, with what to do', async () => {
    await call('/api/checkout', CHECKOUT);
    const { status, body } = await call('/api/checkout', { ...CHECKOUT, amount: '11' });
    expect([status, (body as Refusal).error.toDo]).toEqual([409, expect.stringContaining('Use a new reference')]);
  });

  test('is off where payments are not made at the sandbox, and so is every command', async () => {
    server = open({ off: 'Payments are made elsewhere' });
    rows = [flow({ status: 'authorized', type: 'authorizeAndCapture', execution: 'running' })];
    const { workflowId } = rows[0] as FlowRow;
    const capture = { command: 'capture', commandId: 'c-1' };
    for (const answer of [
      await call('/api/checkout', CHECKOUT),
      await call(`/api/flows/${workflowId}/commands`, capture),
    ]) {
      expect([answer.status, (answer.body as Refusal).error.what]).toEqual([409, 'Payments are made elsewhere']);
    }
    const details = await call(`/api/flows/${workflowId}`);
    expect((details.body as PaymentDetails).offers).toEqual([]);
  });
});

describe('a payment', () => {
  test('is shown with its money over time, the commands that make sense, and its own words', async () => {
    rows = [flow({ status: 'succeeded' })];
    sandbox.entries = [entry('charge', 6_000), entry('refund', 4_000), entry('refund', 9_999, 'Failed')];
    const { workflowId } = rows[0] as FlowRow;
    const { body } = await call(`/api/flows/${workflowId}`);
    const { row, explained, offers, deliveries } = body as PaymentDetails;
    expect(row.steps.map(({ kind, after }) => [kind, after])).toEqual([
      ['charge', '60.00 USD taken'],
      ['refund', '60.00 USD taken, 40.00 USD given back'],
      ['refund', '60.00 USD taken, 40.00 USD given back'],
    ]);
    expect(offers).toMatchObject([{ command: 'refund', most: '20.00', currency: 'USD' }]);
    expect(explained).toEqual([`explained {"workflowId":"${workflowId}"}`]);
    expect(deliveries).toMatchObject([{ id: 'd-1', said: { what: 'Accepted (answered 200)' } }]);
  });

  test('that is held offers its capture and void, and one whose hold has expired holds nothing', async () => {
    const hold = { type: 'authorizeAndCapture', status: 'authorized', waitingFor: 'capture', execution: 'running' };
    rows = [flow(hold)];
    sandbox.entries = [entry('authorization', 6_000)];
    const { workflowId } = rows[0] as FlowRow;
    const held = (await call(`/api/flows/${workflowId}`)).body as PaymentDetails;
    expect([held.row.money, held.offers.map(({ command }) => command)]).toEqual([
      '60.00 USD held',
      ['capture', 'void'],
    ]);
    rows = [flow({ ...hold, status: 'expired', execution: 'completed' })];
    const expired = (await call(`/api/flows/${workflowId}`)).body as PaymentDetails;
    expect([expired.row.money, expired.offers]).toEqual(['no money moved', []]);
  });

  test('offers nothing twice: a refund that is pending counts', async () => {
    rows = [flow({})];
    sandbox.entries = [entry('charge', 6_000), entry('refund', 2_500, 'Pending')];
    const { offers } = (await call(`/api/flows/${paymentWorkflowId('shop-1')}`)).body as PaymentDetails;
    expect(offers).toMatchObject([{ most: '35.00' }]);
  });

  test('has the commands to it in one row, while they are busy', async () => {
    const busy = { type: 'paymentActions', status: 'refunding', waitingFor: 'provider', execution: 'running' };
    rows = [flow({}), flow({ ...busy, workflowId: paymentActionsWorkflowId('p-1') })];
    sandbox.entries = [entry('charge', 6_000)];
    const overview = (await call('/api/overview')).body as Overview;
    expect(overview.payments).toMatchObject({
      value: [{ said: { what: 'Succeeded' }, actions: { what: 'Money is being refunded' }, money: '60.00 USD taken' }],
    });
  });

  test('that nobody follows any more is one for a person', async () => {
    rows = [
      flow({ reference: 'stopped', status: 'unknown', execution: 'terminated' }),
      flow({ reference: 'asks', status: 'unknown', execution: 'running', waitingFor: 'operator', needsOperator: true }),
    ];
    const { payments } = (await call('/api/overview')).body as Overview;
    expect('value' in payments && payments.value.map(({ said }) => said.tone)).toEqual(['person', 'person']);
  });

  test.each([
    ['capture', '45.00', 4_500],
    ['void', undefined, 0],
  ] as const)('takes a %s, and the same command twice acts once', async (command, amount, moved) => {
    await call('/api/checkout', { ...CHECKOUT, flow: 'authorize', amount: '60' });
    rows = [flow({ reference: 'shop-1', workflowId: paymentWorkflowId('shop-1') })];
    for (let times = 0; times < 2; times += 1) {
      const body = { command, commandId: 'c-1', ...(amount !== undefined && { amount, currency: 'USD' }) };
      const answer = await call(`/api/flows/${paymentWorkflowId('shop-1')}/commands`, body);
      expect([answer.status, answer.body]).toMatchObject([200, { isKnown: true, said: { tone: 'good' } }]);
    }
    expect(holdfast.moneyMoved('shop-1')).toBe(moved);
  });

  test('that does not exist is a 404', async () => {
    expect((await call('/api/flows/payment-none')).status).toBe(404);
    expect((await call('/api/flows/payment-none/commands', { command: 'void', commandId: '1' })).status).toBe(404);
  });
});

describe('the sandbox', () => {
  test('gets the fault that was clicked, for everything or for one reference', async () => {
    const kind = 'replyLost';
    expect((await call('/api/faults', { kind })).status).toBe(200);
    await call('/api/faults', { kind, reference: 'shop-1*' });
    const { fault } = FAULT_KINDS[kind] ?? {};
    expect(sandbox.calls).toEqual([
      ['addFault', fault],
      ['addFault', { ...fault, reconciliation_id: 'shop-1*' }],
    ]);
    expect((await call('/api/faults', { kind: 'none' })).status).toBe(400);
    expect((await call('/api/faults/f-1', undefined, 'DELETE')).status).toBe(200);
    expect(sandbox.calls.at(-1)).toEqual(['removeFault', 'f-1']);
  });

  test.each(Object.keys(FAULT_KINDS))('shows a planted %s by its text', async (kind) => {
    await call('/api/faults', { kind });
    const { faults } = (await call('/api/overview')).body as Overview;
    expect(faults).toMatchObject({ value: [{ text: FAULT_KINDS[kind]?.text, fired: 0, isUsedUp: false }] });
  });

  test('sends a delivery again', async () => {
    expect((await call('/api/deliveries/d-1/resend', {})).body).toMatchObject({ id: 'd-1', attempts: 2 });
    expect(sandbox.calls).toEqual([['resend', 'd-1']]);
  });

  test('has its clock moved only by who says that the danger is understood', async () => {
    for (const body of [{ hours: 1 }, { hours: 1, understood: false }, { hours: 0, understood: true }]) {
      expect((await call('/api/clock', body)).status).toBe(400);
    }
    expect(sandbox.calls).toEqual([]);
    await call('/api/clock', { hours: 24, understood: true });
    expect(sandbox.calls).toEqual([['advanceClock', 86_400_000]]);
  });

  test('that is away leaves the rest of the page, and no text of an unexpected failure gets out', async () => {
    sandbox.fails = new TypeError('fetch failed');
    const overview = (await call('/api/overview')).body as Overview;
    const away = `The sandbox does not answer at ${ABOUT.sandboxUrl}`;
    expect([overview.clock, overview.payments]).toEqual([{ fault: away }, { fault: away }]);
    const resent = await call('/api/deliveries/d-1/resend', {});
    expect([resent.status, (resent.body as Refusal).error.what]).toEqual([503, away]);
    sandbox.fails = new Error('a secret');
    const failed = await call('/api/deliveries/d-1/resend', {});
    expect([failed.status, JSON.stringify(failed.body)]).toEqual([500, expect.not.stringContaining('a secret')]);
    expect(errors).toHaveLength(1);
  });
});

test('deliveries are shown by what became of them', async () => {
  sandbox.events = [delivery({ status: 'lost', attempts: 0, last_status: null }), delivery({ id: 'd-2' })];
  const { deliveries } = (await call('/api/overview')).body as Overview;
  expect('value' in deliveries && deliveries.value.map(({ id, said }) => [id, said.what])).toEqual([
    ['d-2', 'Accepted (answered 200)'],
    ['d-1', 'Lost by a fault: never sent'],
  ]);
});

test('neither the image nor the package has the console', () => {
  const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  const ignored = read('.dockerignore').split('\n');
  expect(ignored.indexOf('tools/console')).toBeGreaterThan(ignored.indexOf('!tools'));
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  const holding = files.filter((path) => 'dist/tools/console/main.js'.startsWith(path) || path.includes('console'));
  expect(holding).toEqual([]);
});
