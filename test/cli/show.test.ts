import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Explanation } from '../../src/cli/explain.js';
import type { FlowDetails } from '../../src/cli/show.js';
import { stackOfPages } from '../docs/stack-of-pages.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { fullOr } from '../support/counts.js';
import { flowOf, startUnasked } from '../support/flows.js';
import { startStack, type TestStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';
import { environmentOf, folderOfStack, holdfast } from './command.js';

let stack: TestStack;
let env: NodeJS.ProcessEnv;
/** A charge that waits for its bank. */
let reference: string;
let paymentId: string;
beforeAll(async () => {
  stack = await (fullOr(1, 0) === 1
    ? startStack({ real: true, pendingMs: 3_600_000, webhook: false })
    : stackOfPages());
  env = await environmentOf(stack.namespace);
  ({ reference, paymentId } = await pendingCharge());
});
afterAll(async () => {
  await stack?.close();
});

async function pendingCharge(): Promise<{ reference: string; paymentId: string }> {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const pending = await stack.holdfast.charge(input);
  if (pending.paymentId === undefined) throw new Error(`is ${pending.status}`);
  return { reference: input.reference, paymentId: pending.paymentId };
}

async function shown<Answer = FlowDetails>(
  command: 'show' | 'explain',
  name: string,
  waitMs?: number,
): Promise<Answer> {
  const more = waitMs === undefined ? {} : { waitMs };
  const { code, out, err } = await holdfast(env, [command, name, '--json'], more);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Answer;
}

describe('holdfast show', () => {
  test('says what the flow itself says, and what it has done', async () => {
    const flow = await shown('show', reference);
    expect(flow).toMatchObject({
      ...(await stack.holdfast.status(reference)),
      dueAt: expect.stringMatching(/Z$/),
      execution: 'running',
      answeredByFlow: true,
      asked: 1,
      ignored: {},
    });
    expect(flow.history.map(({ kind, name, text }) => `${kind} ${name} ${text.split(' ')[0]}`)).toEqual([
      'start charge started',
      'call createPayment answered:',
      'call createCharge answered:',
    ]);
  });

  test('shows people fields, what happened, and commands with who gave them', async () => {
    const charge = await pendingCharge();
    const who = { who: 'ann@finance', why: 'seen on the settlement file' };
    await stack.holdfast.settleManually(charge.reference, { status: 'succeeded', ...who });
    const { out } = await holdfast({ ...env, HOLDFAST_UI_ORIGINS: 'https://ui.test' }, ['show', charge.reference]);
    expect(out).toMatch(/^ {2}status +succeeded$/m);
    expect(out).toMatch(/^ {2}amount +10\.95 USD$/m);
    expect(out).toMatch(/^ {2}known by +operator at /m);
    expect(out).toMatch(/^ {2}decided by +ann@finance: seen on the settlement file$/m);
    expect(out).toMatch(
      /command +settleManually +given: who ann@finance, why seen on the settlement file, status succ/,
    );
    expect(out).toMatch(/command +settleManually +done$/m);
    expect(out).toMatch(new RegExp(`^https://ui\\.test/namespaces/${stack.namespace}/workflows/payment-`, 'm'));
  });

  test('says which call is being tried again, how often, and why', async () => {
    const input = await chargeInput(stack.sandbox);
    const fault = { action: 'status', status: 503, method: 'POST', path: '*/charges' } as const;
    const { id } = await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
    await startUnasked(stack, input);
    const { pendingCalls } = await until(
      () => shown('show', input.reference),
      (flow) => flow.pendingCalls.some(({ attempt }) => attempt > 1),
    );
    expect(pendingCalls).toMatchObject([
      { name: 'createCharge', lastFailure: expect.stringMatching(/^ProviderUnav.*503/) },
    ]);
    const { out } = await holdfast(env, ['show', input.reference]);
    expect(out).toMatch(/^Under way\n {2}createCharge {2}attempt \d+.*, last: ProviderUnavailable: /m);
    await stack.sandbox.removeFault(id);
  });

  test.each([
    ['its reference', () => reference],
    ['its workflow id', () => `payment-${reference}`],
    ['the id of its payment', () => paymentId],
  ])('finds a flow by %s', async (_what, name) => {
    const found = await until(
      () => holdfast(env, ['show', name(), '--json']),
      // Visibility, which knows payments by their id, may be a moment behind.
      ({ code }) => code === 0,
    );
    expect(JSON.parse(found.out)).toMatchObject({ reference });
  });

  test('finds a flow that follows a transaction of others, and says what else a name may mean', async () => {
    const { transactionId = '' } = await stack.holdfast.status(reference);
    const what = { paymentId, transactionId, kind: 'charge', amount: 1095, currency: 'USD' } as const;
    await stack.holdfast.resolvePending(what);
    expect(await shown('show', transactionId)).toMatchObject({ type: 'resolvePending', reference: transactionId });
    const charge = await chargeInput(stack.sandbox, CARDS.succeeds, { reference: transactionId });
    await stack.holdfast.charge(charge);
    const { err } = await holdfast(env, ['show', transactionId]);
    expect(err).toContain(`This is payment-${transactionId}; the name may also mean: resolve-${transactionId}`);
  });

  test('of an unknown reference ends with 1 and says what to do', async () => {
    const { code, out, err } = await holdfast(env, ['show', 'order-nobody\u001b[2J']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^No flow is known by "order-nobody.\[2J" in namespace .* Check the spelling, or .*holdfast list/,
    );
  });

  test('needs the keys, and says which variable is lacking', async () => {
    const { code, err } = await holdfast({ ...env, HOLDFAST_ENCRYPTION_KEYS: '' }, ['show', reference]);
    expect(code).toBe(1);
    expect(err).toMatch(/^HOLDFAST_ENCRYPTION_KEYS is not set/);
  });

  test('says so when it has been given other keys than the worker', async () => {
    const keys = `other:${Buffer.alloc(32, 7).toString('base64')}`;
    const { code, out } = await holdfast({ ...env, HOLDFAST_ENCRYPTION_KEYS: keys }, ['show', reference]);
    expect(code).toBe(0);
    expect(out).toMatch(/can't be decoded \(unknown key id\): give this command the worker's HOLDFAST_ENCRYPTION_KEYS/);
    expect(out).toMatch(/^ {2}status +pending$/m);
  });
});

describe('holdfast explain', () => {
  test('prints the sentence of the flow', async () => {
    const { code, out, err } = await holdfast(env, ['explain', reference]);
    expect({ code, out, err }).toEqual({ code: 0, out: `${await stack.holdfast.explain(reference)}\n`, err: '' });
  });

  test('says of an ended flow that it has ended', async () => {
    const input = await chargeInput(stack.sandbox);
    await stack.holdfast.charge(input);
    await flowOf(stack, input).result();
    const { explanation, status } = await shown<Explanation>('explain', input.reference);
    expect(explanation[0]).toMatch(/^This flow has ended \(completed, .* UTC\)\.$/);
    expect(explanation[1]).toMatch(/: succeeded, known by reply .* Nothing to do\.$/);
    expect(status).toBe('succeeded');
  });

  test('says of a terminated flow that nobody follows its money, by whom and why', async () => {
    const charge = await pendingCharge();
    await flowOf(stack, charge).terminate('wrong button');
    const { explanation, execution, since } = await shown<Explanation>('explain', charge.reference);
    expect(execution).toBe('terminated');
    expect(explanation[0]).toMatch(
      /^This flow was stopped from outside at .* \(terminated by \S+: wrong button\), so nobody/,
    );
    expect(explanation[1]).toMatch(/^The last it knew: Charge of 10\.95 USD, .* is pending/);
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
  });
});

describe('in the folder of a running npm start', () => {
  const temporal = async () => ({
    address: await temporalAddress(),
    namespace: stack.namespace,
    uiUrl: 'http://ui.test',
  });

  test('the command finds Temporal, keys and UI by run.json, and tells whose address it does not follow', async () => {
    const cwd = folderOfStack({ state: 'ready', stack: { pid: process.pid }, temporal: await temporal() });
    const elsewhere = { TEMPORAL_ADDRESS: 'production.test:7233', TEMPORAL_API_KEY: 'of-production' };
    const { code, out, err } = await holdfast(elsewhere, ['show', reference, '--json'], { cwd });
    expect(code).toBe(0);
    expect(err).toBe(
      `This is about the npm start that runs in this folder: namespace "${stack.namespace}" at ${await temporalAddress()}. ` +
        'TEMPORAL_ADDRESS=production.test:7233 (namespace "default" at production.test:7233) is not followed here: ' +
        'run the command in another folder for that. With HOLDFAST_ENVIRONMENT=live or test it refuses a namespace of ' +
        'the other one.\n',
    );
    expect(JSON.parse(out)).toMatchObject({
      reference,
      answeredByFlow: true,
      uiUrl: expect.stringMatching(/^http:..ui/),
    });
  });

  test.each([
    ['TEMPORAL_NAMESPACE', 'production', /TEMPORAL_NAMESPACE=production .*\(namespace "production" at /],
    ['TEMPORAL_PROFILE', 'production', /TEMPORAL_PROFILE=production .*\(namespace "shop.live" at live.test:7233\)/],
    [
      'TEMPORAL_CONFIG_FILE',
      '/nowhere.toml',
      /\(Temporal can't be reached: .*"\/nowhere.toml": there is no such file\)/,
    ],
    [
      'TEMPORAL_PROFILE',
      'misspelt',
      /TEMPORAL_PROFILE=misspelt .*\(Temporal can't be reached: its settings.* can't be read: /,
    ],
  ])('a %s that names another place is told in one line', async (name, value, told) => {
    const cwd = folderOfStack({ stack: { pid: process.pid }, temporal: await temporal() });
    const file = join(cwd, 'temporal.toml');
    writeFileSync(file, '[profile.production]\naddress = "live.test:7233"\nnamespace = "shop.live"\n');
    const { code, err } = await holdfast({ TEMPORAL_CONFIG_FILE: file, [name]: value }, ['list'], { cwd });
    expect(code).toBe(0);
    const [line, ...rest] = err.trimEnd().split('\n');
    expect(line).toMatch(told);
    expect(rest).toEqual([]);
  });

  test('variables that name the same place are followed as they are, without a word', async () => {
    const cwd = folderOfStack({ stack: { pid: process.pid }, temporal: await temporal() });
    const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = env;
    const { code, err } = await holdfast({ TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE }, ['list'], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  test.each([{ pid: 2 ** 22 + 1 }, { pid: process.pid, identity: 'utc:that of another process' }])(
    'a run.json that a killed stack has left behind is not followed: %j',
    async (killed) => {
      const cwd = folderOfStack({
        stack: killed,
        temporal: { ...(await temporal()), address: '127.0.0.1:1' },
      });
      const { code } = await holdfast(env, ['list'], { cwd });
      expect(code).toBe(0);
    },
  );

  test.each([
    ['that is cut short', '{"sta', /is not what npm start writes/],
    ['of a stack that still boots', { stack: { pid: process.pid } }, /npm start still boots/],
  ])('a run.json %s is told', async (_what, content, said) => {
    const cwd = folderOfStack(content);
    const { code, err } = await holdfast(env, ['list'], { cwd });
    expect(code).toBe(1);
    expect(err).toMatch(said);
  });

  test('a Temporal that is not there is told, with what to do', async () => {
    const { code, err } = await holdfast({ TEMPORAL_ADDRESS: '127.0.0.1:1' }, ['list'], { waitMs: 200 });
    expect(code).toBe(1);
    expect(err).toMatch(/^Temporal does not answer at 127\.0\.0\.1:1 .* set TEMPORAL_ADDRESS$/m);
  });
});

// Last, since the worker is gone afterwards: a short run shares it.
describe('without a worker', () => {
  beforeAll(async () => {
    await stack.stopWorker();
  });

  atFullCounts('show says what Temporal stores, and that the flow did not answer', async () => {
    const flow = await shown('show', reference, 300);
    expect(flow).toMatchObject({
      reference,
      status: 'pending',
      waitingFor: 'settlement',
      answeredByFlow: false,
      silence: expect.stringMatching(/worker/),
      paymentId,
      amount: 1095,
    });
    expect(flow.history.map(({ name }) => name)).toEqual(expect.arrayContaining(['createPayment', 'createCharge']));
  });

  atFullCounts('show knows the result and the evidence of an ended flow from its history', async () => {
    const ended = (await holdfast(env, ['list', '--json', '--status', 'succeeded'])).out;
    const [row] = JSON.parse(ended) as { reference: string }[];
    const { outcome } = await shown('show', row?.reference ?? '', 300);
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: expect.any(String) } });
  });

  atFullCounts('explain says what Temporal stores, and why', async () => {
    const { explanation, answeredByFlow } = await shown<Explanation>('explain', reference, 300);
    expect(answeredByFlow).toBe(false);
    expect(explanation.join('\n')).toMatch(
      /^This is what Temporal stores, because no worker .*\ncharge of 10\.95 USD, /,
    );
  });
});
