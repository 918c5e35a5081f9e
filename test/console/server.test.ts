import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FlowRow } from '../../src/cli/flow-row.js';
import { paymentActionsWorkflowId, paymentWorkflowId } from '../../src/contract/names.js';
import type { Done, Overview, PaymentDetails, Refusal } from '../../tools/console/answers.js';
import { FAULT_KINDS } from '../../tools/console/fault-kinds.js';
import { ABOUT, CHECKOUT, delivery, entry, flow, TestConsole } from './parts.js';

const OPEN = { execution: 'running' };
const BY_PERSON = { tone: 'person', toDo: expect.stringMatching(/\S/) as string };
const MUST_LOOK = { tone: 'person', toDo: expect.stringContaining('A person must look') as string };
const PAUSED = { tone: 'person', toDo: expect.stringContaining('temporal workflow unpause') as string };
const STOPPED = { tone: 'person', what: expect.stringMatching(/^Failed/) as string };

let at: TestConsole;
beforeEach(() => {
  at = new TestConsole();
});

describe('a checkout', () => {
  test('says what happened, and asked again it is the same payment', async () => {
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await at.call('/api/checkout', CHECKOUT);
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
    expect(at.holdfast.moneyMoved('shop-1')).toBe(1_095);
  });

  test('does not call unknown what is declined, nor declined what is unknown', async () => {
    at.holdfast.plan('shop-1', { status: 'unknown' }, { status: 'declined', category: 'insufficient_funds' });
    const unknown = await at.call('/api/checkout', CHECKOUT);
    expect(unknown.body).toMatchObject({ isKnown: false, said: { tone: 'waiting', waitsFor: expect.any(String) } });
    const declined = await at.call('/api/checkout', CHECKOUT);
    expect(declined.body).toMatchObject({
      isKnown: true,
      said: { what: 'Declined: insufficient funds. Nothing was taken', tone: 'bad' },
    });
  });

  test('that nobody has confirmed to have failed is one for a person: money may have moved', async () => {
    at.holdfast.plan('shop-1', { status: 'declined', category: 'service_error', confirmed: false });
    const { said } = (await at.call('/api/checkout', CHECKOUT)).body as Done;
    expect(said).toMatchObject({ tone: 'person', what: expect.stringContaining('money may have moved') });
    expect(said.toDo).toContain('before anything is repeated');
    expect(JSON.stringify(said)).not.toMatch(/[Nn]othing was taken|another card|may be tried/);
  });

  test.each([
    [{ ...CHECKOUT, amount: '10.955' }, 'amount: 10.955 holds a fraction of the minor unit of USD'],
    [{ ...CHECKOUT, amount: '-1' }, 'amount: '],
    [{ ...CHECKOUT, currency: 'XXX' }, 'currency: '],
    [{ ...CHECKOUT, reference: 'no blanks' }, 'reference: '],
    [{ ...CHECKOUT, token: 'none' }, 'paymentMethod.token: '],
    [{ ...CHECKOUT, more: 1 }, 'more'],
  ])('that can’t be used is refused with its field: %#', async (body, fault) => {
    const answer = await at.call('/api/checkout', body);
    expect(answer.status).toBe(400);
    expect((answer.body as Refusal).error.faults.join()).toContain(fault);
    expect(at.holdfast.moneyMoved('shop-1')).toBe(0);
  });

  test('of another request under the same reference is refused, with what to do', async () => {
    await at.call('/api/checkout', CHECKOUT);
    const { status, body } = await at.call('/api/checkout', { ...CHECKOUT, amount: '11' });
    expect([status, (body as Refusal).error.toDo]).toEqual([
      409,
      expect.stringContaining('Ask what became of it first'),
    ]);
  });

  test('is off where payments are not made at the sandbox, and so is every command', async () => {
    at = new TestConsole({ off: 'Payments are made elsewhere' });
    at.rows = [flow({ status: 'authorized', type: 'authorizeAndCapture', execution: 'running' })];
    const { workflowId } = at.rows[0] as FlowRow;
    const capture = { command: 'capture', commandId: 'c-1' };
    for (const answer of [
      await at.call('/api/checkout', CHECKOUT),
      await at.call(`/api/flows/${workflowId}/commands`, capture),
    ]) {
      expect([answer.status, (answer.body as Refusal).error.what]).toEqual([409, 'Payments are made elsewhere']);
    }
    const details = await at.call(`/api/flows/${workflowId}`);
    expect((details.body as PaymentDetails).offers).toEqual([]);
  });
});

describe('a payment', () => {
  test('is shown with its money over time, the commands that make sense, and its own words', async () => {
    at.rows = [flow({ status: 'succeeded' })];
    at.sandbox.entries = [entry('charge', 6_000), entry('refund', 4_000), entry('refund', 9_999, 'Failed')];
    const { workflowId } = at.rows[0] as FlowRow;
    const { body } = await at.call(`/api/flows/${workflowId}`);
    const { row, explained, offers, deliveries } = body as PaymentDetails;
    expect(row.steps.map(({ kind, after }) => [kind, after])).toEqual([
      ['charge', '60.00 USD taken'],
      ['refund', '60.00 USD taken, 40.00 USD refunded'],
      ['refund', '60.00 USD taken, 40.00 USD refunded'],
    ]);
    expect(offers).toMatchObject([{ command: 'refund', most: '20.00', currency: 'USD' }]);
    expect(explained).toEqual([`explained {"workflowId":"${workflowId}"}`]);
    expect(deliveries).toMatchObject([{ id: 'd-1', said: { what: 'Accepted (answered 200)' } }]);
  });

  test('that is held offers its capture and void, and one whose hold has expired holds nothing', async () => {
    const hold = { type: 'authorizeAndCapture', status: 'authorized', waitingFor: 'capture', execution: 'running' };
    at.rows = [flow(hold)];
    at.sandbox.entries = [entry('authorization', 6_000)];
    const { workflowId } = at.rows[0] as FlowRow;
    const held = (await at.call(`/api/flows/${workflowId}`)).body as PaymentDetails;
    expect([held.row.money, held.offers.map(({ command }) => command)]).toEqual([
      '60.00 USD held',
      ['capture', 'void'],
    ]);
    at.rows = [flow({ ...hold, status: 'expired', execution: 'completed' })];
    const expired = (await at.call(`/api/flows/${workflowId}`)).body as PaymentDetails;
    expect([expired.row.money, expired.offers]).toEqual(['no money moved', []]);
  });

  test('offers nothing twice: a refund that is pending counts', async () => {
    at.rows = [flow({})];
    at.sandbox.entries = [entry('charge', 6_000), entry('refund', 2_500, 'Pending')];
    const { offers } = (await at.call(`/api/flows/${paymentWorkflowId('shop-1')}`)).body as PaymentDetails;
    expect(offers).toMatchObject([{ most: '35.00' }]);
  });

  test('has the commands to it in one row, while they are busy', async () => {
    const busy = { type: 'paymentActions', status: 'refunding', waitingFor: 'provider', execution: 'running' };
    at.rows = [flow({}), flow({ ...busy, workflowId: paymentActionsWorkflowId('p-1') })];
    at.sandbox.entries = [entry('charge', 6_000)];
    const overview = (await at.call('/api/overview')).body as Overview;
    expect(overview.payments).toMatchObject({
      value: [{ said: { what: 'Succeeded' }, actions: { what: 'Money is being refunded' }, money: '60.00 USD taken' }],
    });
  });

  test('that nobody follows any more is one for a person', async () => {
    at.rows = [
      flow({ reference: 'stopped', status: 'unknown', execution: 'terminated' }),
      flow({ reference: 'asks', status: 'unknown', execution: 'running', waitingFor: 'operator', needsOperator: true }),
    ];
    const { payments } = (await at.call('/api/overview')).body as Overview;
    expect('value' in payments && payments.value.map(({ said }) => said.tone)).toEqual(['person', 'person']);
  });

  test.each([
    ['capture', '45.00', 4_500],
    ['void', undefined, 0],
  ] as const)('takes a %s, and the same command twice acts once', async (command, amount, moved) => {
    await at.call('/api/checkout', { ...CHECKOUT, flow: 'authorize', amount: '60' });
    at.rows = [flow({ reference: 'shop-1', workflowId: paymentWorkflowId('shop-1') })];
    for (let times = 0; times < 2; times += 1) {
      const body = { command, commandId: 'c-1', ...(amount !== undefined && { amount, currency: 'USD' }) };
      const answer = await at.call(`/api/flows/${paymentWorkflowId('shop-1')}/commands`, body);
      expect([answer.status, answer.body]).toMatchObject([200, { isKnown: true, said: { tone: 'good' } }]);
    }
    expect(at.holdfast.moneyMoved('shop-1')).toBe(moved);
  });

  test.each<[string, Partial<FlowRow>, object]>([
    ['ended with a question for an operator', { needsOperator: true }, { said: MUST_LOOK }],
    ['waits for another card', { ...OPEN, status: 'pastDue', waitingFor: 'card' }, { said: BY_PERSON }],
    ['waits for its unit to be released', { ...OPEN, status: 'unknown', waitingFor: 'brake' }, { said: BY_PERSON }],
    ['waits for the right key', { ...OPEN, status: 'started', waitingFor: 'credentials' }, { said: BY_PERSON }],
    ['waits for another person', { ...OPEN, status: 'started', waitingFor: 'approval' }, { said: BY_PERSON }],
    ['failed before it said anything', { execution: 'failed', status: null }, { said: STOPPED }],
    [
      'is paused in Temporal',
      { execution: 'paused', status: 'authorized', waitingFor: 'capture', dueAt: '2026-12-03T10:00:00.000Z' },
      { said: PAUSED, money: '60.00 USD held', dueAt: '2026-12-03T10:00:00.000Z' },
    ],
  ])('that %s is one for a person, and is never said to go on by itself', async (_how, changes, shown) => {
    at.rows = [flow(changes)];
    at.sandbox.entries = [entry('authorization', 6_000)];
    const { payments } = (await at.call('/api/overview')).body as Overview;
    expect(payments).toMatchObject({ value: [shown] });
    expect(JSON.stringify(payments)).not.toMatch(/"toDo":"Nothing/);
  });

  test('whose commands are paused in Temporal is busy', async () => {
    const paused = { type: 'paymentActions', status: 'refunding', waitingFor: 'provider', execution: 'paused' };
    at.rows = [flow({}), flow({ ...paused, workflowId: paymentActionsWorkflowId('p-1') })];
    const { payments } = (await at.call('/api/overview')).body as Overview;
    expect(payments).toMatchObject({ value: [{ actions: { what: 'Money is being refunded', ...PAUSED } }] });
  });

  test('has its parked events beside it, by as much of their hash as the commands need, and without its money', async () => {
    const parked = { type: 'parkedEvent', reference: 'ab'.repeat(32), status: 'parked', waitingFor: 'flow' };
    at.rows = [flow({ ...parked, execution: 'running', needsOperator: true })];
    at.sandbox.entries = [entry('charge', 6_000)];
    const { payments } = (await at.call('/api/overview')).body as Overview;
    const said = { what: 'An event without a flow is kept', tone: 'person', waitsFor: 'the flow of the event' };
    expect(payments).toMatchObject({ value: [{ reference: 'abababababab', steps: [], money: '', said }] });
  });

  test('that does not exist is a 404', async () => {
    expect((await at.call('/api/flows/payment-none')).status).toBe(404);
    expect((await at.call('/api/flows/payment-none/commands', { command: 'void', commandId: '1' })).status).toBe(404);
  });
});

describe('the sandbox', () => {
  test('gets the fault that was clicked, for everything or for one reference', async () => {
    const kind = 'replyLost';
    expect((await at.call('/api/faults', { kind })).status).toBe(200);
    await at.call('/api/faults', { kind, reference: 'shop-1*' });
    const { fault } = FAULT_KINDS[kind] ?? {};
    expect(at.sandbox.calls).toEqual([
      ['addFault', fault],
      ['addFault', { ...fault, reconciliation_id: 'shop-1*' }],
    ]);
    expect((await at.call('/api/faults', { kind: 'none' })).status).toBe(400);
    expect((await at.call('/api/faults/f-1', undefined, 'DELETE')).status).toBe(200);
    expect(at.sandbox.calls.at(-1)).toEqual(['removeFault', 'f-1']);
  });

  test.each(Object.keys(FAULT_KINDS))('shows a planted %s by its text', async (kind) => {
    await at.call('/api/faults', { kind });
    const { faults } = (await at.call('/api/overview')).body as Overview;
    expect(faults).toMatchObject({ value: [{ text: FAULT_KINDS[kind]?.text, fired: 0, isUsedUp: false }] });
  });

  test('sends a delivery again', async () => {
    expect((await at.call('/api/deliveries/d-1/resend', {})).body).toMatchObject({ id: 'd-1', attempts: 2 });
    expect(at.sandbox.calls).toEqual([['resend', 'd-1']]);
  });

  test('has its clock moved only by who says that the danger is understood', async () => {
    for (const body of [{ hours: 1 }, { hours: 1, understood: false }, { hours: 0, understood: true }]) {
      expect((await at.call('/api/clock', body)).status).toBe(400);
    }
    expect(at.sandbox.calls).toEqual([]);
    await at.call('/api/clock', { hours: 24, understood: true });
    expect(at.sandbox.calls).toEqual([['advanceClock', 86_400_000]]);
  });

  test('that is away leaves the rest of the page, and no text of an unexpected failure gets out', async () => {
    at.sandbox.fails = new TypeError('fetch failed');
    const overview = (await at.call('/api/overview')).body as Overview;
    const away = `The sandbox does not answer at ${ABOUT.sandboxUrl}`;
    expect([overview.clock, overview.payments]).toEqual([{ fault: away }, { fault: away }]);
    const resent = await at.call('/api/deliveries/d-1/resend', {});
    expect([resent.status, (resent.body as Refusal).error.what]).toEqual([503, away]);
    at.sandbox.fails = new Error('a secret');
    const failed = await at.call('/api/deliveries/d-1/resend', {});
    expect([failed.status, JSON.stringify(failed.body)]).toEqual([500, expect.not.stringContaining('a secret')]);
    expect(at.errors).toHaveLength(1);
  });
});

test('deliveries are shown by what became of them', async () => {
  at.sandbox.events = [delivery({ status: 'lost', attempts: 0, last_status: null }), delivery({ id: 'd-2' })];
  const { deliveries } = (await at.call('/api/overview')).body as Overview;
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
