import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { paymentWorkflowId, SIGNAL_NAMES } from '../../src/contract/names.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { TEST_ENCRYPTION_KEYS as OLD, testDataConverter } from '../support/data-converter.js';
import { flowOf } from '../support/flows.js';
import { authorizeInput, movements } from '../support/payments.js';
import { startStack, type TestStack } from '../support/stack.js';
import { fullOr } from '../support/counts.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

const keyOf = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
/** Given to the workers before anybody writes with it, and only after. */
const RIGHT = keyOf('right');
const WRONG = keyOf('wrong');
const ALL = `${RIGHT},${OLD},${WRONG}`;
/** The shortest there is: too long to be waited for in a short run, in which a person releases the hold. */
const DEADLINE_MS = 60_000;
const waitsForDeadline = fullOr(1, 0) === 1;

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({
    real: true,
    webhook: false,
    pendingMs: 3_600_000,
    workerEnv: { HOLDFAST_ENCRYPTION_KEYS: `${OLD},${RIGHT}` },
  });
});
afterAll(async () => {
  await stack?.close();
});

/** What business services and the webhook handler are, as far as keys go. */
function writerWith(keys: string): Client {
  const { connection, options } = stack.temporal;
  return new Client({ connection, namespace: options.namespace, dataConverter: testDataConverter(keys) });
}

type Flows = Awaited<ReturnType<typeof openFlows>>;

/** A charge that pends and a hold whose deadline is near. */
async function openFlows() {
  const charge = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const hold = await authorizeInput(stack, CARDS.succeeds, { captureDeadline: DEADLINE_MS });
  const [pending, held] = await Promise.all([stack.holdfast.charge(charge), stack.holdfast.authorize(hold)]);
  expect([pending.status, held.status]).toEqual(['pending', 'authorized']);
  return { charge, hold, ids: [charge.reference, hold.reference] };
}

/** What the webhook handler makes of the service's events. */
async function sendEvents(keys: string, { ids }: Flows): Promise<void> {
  for (const [index, reference] of ids.entries()) {
    const { paymentId, transactionId, businessUnit, amount, currency, since } = await stack.holdfast.status(reference);
    const event = {
      hash: randomBytes(32).toString('hex'),
      eventType: index === 0 ? 'payment.charge.update' : 'payment.authorization.update',
      created: String(Date.parse(since)),
      status: 'Succeed',
      trusted: true,
      ...{ paymentId, transactionId, businessUnit, amount, currency },
    };
    await writerWith(keys)
      .workflow.getHandle(paymentWorkflowId(reference))
      .signal(SIGNAL_NAMES.transactionEvent, event);
  }
}

const HELD = 'authorization Succeed 6000 USD';
const VOIDED = 'void Succeed 6000 USD';

async function endsWell({ charge, hold, ids }: Flows): Promise<void> {
  const temporal = writerWith(ALL);
  const resultOf = async (reference: string): Promise<unknown> =>
    await temporal.workflow.getHandle(paymentWorkflowId(reference)).result();
  expect(await resultOf(charge.reference)).toMatchObject({
    status: 'succeeded',
    evidence: { knownBy: 'webhook' },
  });
  if (!waitsForDeadline) await new HoldfastClient(temporal).void(hold.reference, { commandId: 'released' });
  const reason = waitsForDeadline ? 'deadline' : 'command';
  expect(await resultOf(hold.reference)).toMatchObject({ status: 'voided', reason });
  expect(await movements(stack, hold.reference)).toEqual([HELD, VOIDED]);
  for (const reference of ids) {
    const { events } = await flowOf(stack, { reference }).fetchHistory();
    expect(JSON.stringify(events)).not.toMatch(/TMPRL1100|nondeterminis/i);
  }
}

test('a key that comes to the workers first holds up no flow, and one that comes to them last no longer than until then', async () => {
  const [right, wrong] = await Promise.all([openFlows(), openFlows()]);
  const opened = Date.now();
  await sendEvents(`${RIGHT},${OLD}`, right);
  await sendEvents(`${WRONG},${OLD}`, wrong);
  const env = await environmentOf(stack.namespace);
  const { out } = await until(
    () => holdfast(env, ['explain', wrong.hold.reference], { waitMs: 1_000 }),
    ({ out: text }) => text.includes('Its workflow task is at try'),
  );
  expect(out).toContain('unknown key id "wrong"');
  expect(out).toContain('Give every worker that key and this flow goes on');
  if (waitsForDeadline) await sleep(opened + DEADLINE_MS + 3_000 - Date.now());
  await endsWell(right);
  expect(await movements(stack, wrong.hold.reference)).toEqual([HELD]);
  await stack.stopWorker();
  await stack.startWorker({ HOLDFAST_ENCRYPTION_KEYS: ALL });
  await endsWell(wrong);
}, 180_000);
