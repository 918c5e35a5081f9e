import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '@temporalio/client';
import type { Stored } from '../../src/contract/cards.js';
import {
  cardWorkflowId,
  paymentActionsWorkflowId,
  paymentWorkflowId,
  riskWorkflowId,
  subscriptionWorkflowId,
} from '../../src/contract/names.js';
import { storedCard } from '../support/cards.js';
import { newReference } from '../support/charges.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { flowProblems } from '../support/flow-health.js';
import { movements } from '../support/payments.js';
import { startReadyProcess, type ReadyProcess } from '../../tools/stack/ready-process.js';
import type { TestStack } from '../support/stack.js';
import { stackOfPages } from './stack-of-pages.js';
import { later, localDay, ROME } from '../support/subscriptions.js';
import { temporalAddress, temporalCliPath } from '../support/temporal.js';
import { until } from '../support/until.js';

const PAGE = readFileSync(new URL('../../docs/raw-start.md', import.meta.url), 'utf8');
const run = promisify(execFile);
const CODEC_TOKEN = randomBytes(24).toString('hex');

let stack: TestStack;
let codec: ReadyProcess;
beforeAll(async () => {
  const codecEnv = {
    HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
    HOLDFAST_CODEC_TOKEN: CODEC_TOKEN,
    HOLDFAST_CODEC_UI_CAPABILITY: randomBytes(24).toString('hex'),
    HOLDFAST_CODEC_PORT: '0',
  };
  [stack, codec] = await Promise.all([stackOfPages(), startReadyProcess('dist/workers/codec.js', { env: codecEnv })]);
});
afterAll(async () => {
  await codec?.stop();
  await stack?.close();
});

/** The command of the page that holds every one of `words`, as arguments, with names and token of this run. */
function commandOf(words: readonly string[], names: Readonly<Record<string, string>>): string[] {
  const text = PAGE.replaceAll('\\\n', ' ');
  const line = text.split('\n').find((each) => each.startsWith('temporal ') && words.every((w) => each.includes(w)));
  if (line === undefined) throw new Error(`The page shows no command with ${words.join(' ')}`);
  const named = Object.entries(names).reduce((so, [from, to]) => so.replaceAll(from, to), line);
  return [...named.matchAll(/'([^']*)'|(\S+)/g)].slice(1).map(([, quoted, bare]) => quoted ?? bare ?? '');
}

/** The environment that the page exports, for the codec server of this run. */
function codecSettings(): Record<string, string> {
  const exported = [...PAGE.matchAll(/^export (\w+)=(\S+|".*")$/gm)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('"', '').replace('http://127.0.0.1:4030', codec.url).replace('$HOLDFAST_CODEC_TOKEN', CODEC_TOKEN),
  ]);
  return Object.fromEntries(exported) as Record<string, string>;
}

/** Runs it with the Temporal CLI as the page sets it up, or without the codec server. Returns the answer that it printed. */
async function temporal(
  words: readonly string[],
  names: Readonly<Record<string, string>>,
  env: Record<string, string> = codecSettings(),
): Promise<unknown> {
  const where = ['--address', await temporalAddress(), '--namespace', stack.namespace, '--output', 'json'];
  const { stdout } = await run(temporalCliPath(), [...commandOf(words, names), ...where], {
    env: { HOME: process.env['HOME'], ...env },
  });
  const { result, updateResult, queryResult } = JSON.parse(stdout) as Record<string, unknown>;
  return result ?? updateResult ?? queryResult;
}

async function token(): Promise<string> {
  return (await stack.sandbox.tokenize('4111111111111111')).token;
}

describe('the commands of the page on raw starts', () => {
  test('hold money, capture a part of it and refund that, with the Temporal CLI and plain JSON', async () => {
    const reference = newReference();
    const names = { 'order-1004': reference, '"..."': JSON.stringify(await token()) };
    await temporal(['start', '--type authorizeAndCapture'], names);
    await until(
      () => stack.holdfast.status(reference),
      ({ status }) => status === 'authorized',
    );
    expect(await temporal(['update execute', '--name capture'], names)).toMatchObject({ status: 'succeeded' });
    const ended = await stack.temporal.workflow.getHandle(paymentWorkflowId(reference)).result();
    expect(ended).toMatchObject({ status: 'captured', capturedAmount: 15_000, released: { amount: 5_000 } });

    const { paymentId } = ended as { paymentId: string };
    const refund = { ...names, '6f3d2c1a-0b9e-4a77-8c55-1d2e3f405162': paymentId, 'return-1': `${reference}-back` };
    const refunded = await temporal(['execute-update-with-start', '--update-name refund'], refund);
    expect(refunded).toMatchObject({ status: 'succeeded', amount: 6000 });
    // Again, as after a lost answer: it is the same refund.
    expect(await temporal(['execute-update-with-start', '--update-name refund'], refund)).toEqual(refunded);
    expect(await movements(stack, reference)).toEqual(['authorization Succeed 20000 USD', 'capture Succeed 15000 USD']);
    expect(await movements(stack, `${reference}-back`)).toEqual(['refund Succeed 6000 USD']);
    expect(await stack.holdfast.status({ workflowId: paymentActionsWorkflowId(paymentId) })).toMatchObject({
      status: 'idle',
    });
  });

  test('store a card, list it, hold money with it, reauthorize it, and remove the card', async () => {
    const [storing, hold, customer] = [newReference('card'), newReference(), newReference('customer')];
    const fresh = await token();
    const names = { 'card-77': storing, 'customer-77': customer, '"..."': JSON.stringify(fresh) };
    await temporal(['start', '--type storeCard'], names);
    const stored = (await stack.temporal.workflow.getHandle(paymentWorkflowId(storing)).result()) as Stored;
    expect(stored).toMatchObject({ status: 'stored', token: fresh });

    const { customerId } = stored;
    const onFile = { '7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f10': customerId, '"..."': JSON.stringify(fresh) };
    await temporal(['start', '--type listCards'], onFile);
    const list = stack.temporal.workflow.getHandle(cardWorkflowId(customerId, 'list-1'));
    expect(await list.result()).toMatchObject({ customerId, cards: [{ token: fresh }] });

    await temporal(['start', '--type authorizeAndCapture', 'cof_cardholder'], { ...onFile, 'order-1007': hold });
    await until(
      () => stack.holdfast.status(hold),
      ({ status }) => status === 'authorized',
    );
    await temporal(['update execute', '--name reauthorize'], { 'order-1007': hold });
    await stack.holdfast.void(hold);
    const moved = ['authorization Succeed 20000 USD', 'void Succeed 20000 USD'];
    expect(await movements(stack, hold)).toEqual([...moved, ...moved]);

    await temporal(['start', '--type removeCard'], onFile);
    const removal = stack.temporal.workflow.getHandle(cardWorkflowId(customerId, 'remove-1'));
    expect(await removal.result()).toEqual({ customerId, token: fresh, status: 'removed' });
  });

  test('start a subscription, bill its first period early, and cancel it', async () => {
    const reference = newReference('club');
    const { customerId, token: onFile } = await storedCard(stack);
    const names = {
      'club-7': reference,
      '7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f10': customerId,
      '"..."': JSON.stringify(onFile),
      // The page's own date will be in the past one day.
      '2027-01-31': later(localDay(Date.now(), ROME), 40),
    };
    await temporal(['start', '--type subscription'], names);
    const workflowId = subscriptionWorkflowId(reference);
    await until(
      () => stack.holdfast.status({ workflowId }),
      ({ status }) => status === 'active',
    );
    const billed = await temporal(['update execute', '--name billNow'], names);
    expect(billed).toMatchObject({ result: { status: 'succeeded' }, billedPeriods: 1, amount: 999 });
    expect(await temporal(['update execute', '--name billNow'], names)).toEqual(billed);
    expect(await temporal(['update execute', '--name cancel'], names)).toMatchObject({ status: 'cancelled' });
    expect(await stack.temporal.workflow.getHandle(workflowId).result()).toMatchObject({
      status: 'cancelled',
      reason: 'asked by the customer',
    });
    expect(await movements(stack, `${reference}.1.1`)).toEqual(['charge Succeed 999 EUR']);
  });

  test('send a credit, and ask for the risk of a payment', async () => {
    const credit = newReference('payout');
    await temporal(['start', '--type credit'], { 'payout-17': credit, '"..."': JSON.stringify(await token()) });
    const sent = await stack.temporal.workflow.getHandle(paymentWorkflowId(credit)).result();
    expect(sent).toMatchObject({ status: 'succeeded', amount: 6000 });
    expect(await movements(stack, credit)).toEqual(['credit Succeed 6000 USD']);

    const risk = newReference();
    const names = { 'order-1005': risk, 'ada@shop.example': 'manual-review-hub@email.com' };
    await temporal(['start', '--type analyseRisk'], names);
    await until(
      () => stack.holdfast.status({ workflowId: riskWorkflowId(risk) }),
      ({ status }) => status === 'underReview',
    );
    await temporal(['update execute', '--name decideReview'], names);
    expect(await stack.temporal.workflow.getHandle(riskWorkflowId(risk)).result()).toMatchObject({
      status: 'approve',
      risk: { decidedBy: 'operator', operator: { who: 'ada', why: 'known customer' } },
    });
  });

  test('find their flow again by our client, and a flow of our client takes plain commands', async () => {
    const reference = newReference();
    const paymentMethod = { type: 'tokenized' as const, token: await token() };
    const input = { reference, amount: 20_000, currency: 'USD', paymentMethod };
    const plain = new Client({ connection: stack.temporal.connection, namespace: stack.namespace });
    await plain.workflow.start('authorizeAndCapture', {
      taskQueue: 'holdfast',
      workflowId: paymentWorkflowId(reference),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [input],
    });
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'authorized' });
    await expect(stack.holdfast.authorize({ ...input, amount: 1 })).rejects.toMatchObject({
      type: 'ReferenceConflict',
    });
    const flow = plain.workflow.getHandle(paymentWorkflowId(reference));
    await expect(flow.executeUpdate('capture', { args: [{ amount: 20_001 }] })).rejects.toThrow();
    await expect(flow.executeUpdate('capture', { args: [{ amount: '1', colour: 'red' }] })).rejects.toThrow();
    expect(await stack.holdfast.status(reference)).toMatchObject({ status: 'authorized' });
    await temporal(['update execute', '--name capture'], { 'order-1004': reference });
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'captured', capturedAmount: 15_000 });
  });

  test('charge, and let the flow explain itself; what the CLI sends with the codec server is encrypted', async () => {
    const reference = newReference();
    const names = { 'order-1001': reference, '"..."': JSON.stringify(await token()) };
    await temporal(['start', '--type charge'], names);
    const flow = stack.temporal.workflow.getHandle(paymentWorkflowId(reference));
    expect(await flow.result()).toMatchObject({ status: 'succeeded' });
    expect(String(await temporal(['query', '--type explain'], names))).toContain(`${reference}: succeeded`);
    const { events } = await flow.fetchHistory();
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    expect(Buffer.from(payload?.metadata?.['encoding'] ?? []).toString()).toBe('binary/encrypted');
  });

  test('are carried out without the codec server too, but the answer can not be shown', async () => {
    const reference = newReference();
    const names = { 'order-1004': reference, '"..."': JSON.stringify(await token()) };
    await temporal(['start', '--type authorizeAndCapture'], names, {});
    await until(
      () => stack.holdfast.status(reference),
      ({ status }) => status === 'authorized',
    );
    await expect(temporal(['update execute', '--name capture'], names, {})).rejects.toMatchObject({
      stderr: expect.stringContaining('payload encoding is not supported'),
    });
    expect(await movements(stack, reference)).toEqual(['authorization Succeed 20000 USD', 'capture Succeed 15000 USD']);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
