import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import type { FlowRequest } from '../../../src/client/start-options.js';
import { PAYMENTS_TASK_QUEUE, WORKFLOW_TYPES } from '../../../src/contract/names.js';
import type { FaultInput } from '../../../sandbox/control.js';
import { storeInput } from '../../support/cards.js';
import { CARDS } from '../../support/charges.js';
import { authorizeInput } from '../../support/payments.js';
import { begin, SPECS } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';

export { HOUR, MINUTE, SECOND } from '../../support/virtual-time.js';
export const DAY = 24 * 3_600_000;
export const OPERATOR = { who: 'Grace Hopper', why: 'seen in the back office' };

export const lostReply = (path: string, times = 1): FaultInput => ({
  action: 'drop_reply',
  method: 'POST',
  path,
  times,
});
export const answers = (status: number, method: 'POST' | 'GET', path: string): FaultInput => ({
  action: 'status',
  status,
  method,
  path,
});
export const declined = (path: string): FaultInput => ({
  action: 'result',
  status: 'Failed',
  category: 'payment_method_declined',
  path,
});

/** Sets what the provider of the default unit does with a void of what pends. */
export async function provideVoidsOfPending(
  { sandbox }: Pick<SimulatedTime, 'sandbox'>,
  pending_void: 'refused' | 'allowed' | 'too_late',
): Promise<void> {
  const [unit] = await sandbox.businessUnits();
  await sandbox.putBusinessUnit({ app_id: unit?.app_id ?? '', profile: { pending_void } });
}

/** One simulation for all tests of a file; time only goes forward in it. */
export function sharedTime(
  options: { billing?: boolean } = {},
  more: Parameters<typeof startSimulatedTime>[1] = {},
): SimulatedTime {
  let time: SimulatedTime | undefined;
  beforeAll(async () => {
    time = await startSimulatedTime(options, more);
  });
  afterAll(async () => {
    await time?.close();
  });
  return new Proxy({} as SimulatedTime, {
    get: (_target, name) => Reflect.get(time ?? {}, name) as unknown,
  });
}

export type FlowType = 'charge' | 'authorizeAndCapture' | 'credit' | 'storeCard' | 'analyseRisk';

/** Every flow that a business service starts under a reference of its own, over 60.00 USD with a fresh token. */
export const FLOW_TYPES: readonly FlowType[] = ['charge', 'authorizeAndCapture', 'credit', 'storeCard', 'analyseRisk'];

/** What the ledger shows of such a flow that has done all it was asked for. */
export const DONE: Readonly<Record<FlowType, readonly string[]>> = {
  charge: ['charge Succeed 6000 USD'],
  authorizeAndCapture: ['authorization Succeed 6000 USD', 'capture Succeed 6000 USD'],
  credit: ['credit Succeed 6000 USD'],
  storeCard: ['charge Succeed 6000 USD'],
  analyseRisk: [],
};

/** Input of such a flow; an authorization is captured at once, a card stored by a charge. */
export async function inputOf(
  time: SimulatedTime,
  type: FlowType,
  {
    reference,
    card = CARDS.succeeds,
    ...more
  }: { reference?: string; card?: string } & Readonly<Record<string, unknown>> = {},
): Promise<{ reference: string; amount: number; currency: string }> {
  const named = reference === undefined ? {} : { reference };
  if (type === 'storeCard') return await storeInput(time, { consent: { by: 'charge' }, ...named, ...more }, card);
  const input = await authorizeInput(time, card, named);
  if (type === 'authorizeAndCapture') return { ...input, captureMode: 'auto', ...more } as typeof input;
  return { ...input, ...more };
}

export function specOf(type: FlowType, input: object): FlowRequest<FlowType> {
  return type === 'authorizeAndCapture' ? SPECS.authorize(input) : SPECS[type](input);
}

/** Starts it as our client does. */
export async function beginFlow(
  time: SimulatedTime,
  type: FlowType,
  input: object,
  faults: readonly FaultInput[] = [],
) {
  const spec = specOf(type, input);
  const { reference } = spec.subject;
  for (const fault of faults) await time.sandbox.addFault({ ...fault, reconciliation_id: reference });
  return await begin(time, spec);
}

type RawOptions = Partial<Parameters<SimulatedTime['client']['workflow']['start']>[1]>;

/** Starts it as another program does: without memo, search attributes and reuse policy. */
export async function startRaw(time: SimulatedTime, type: FlowType, input: object, options: RawOptions = {}) {
  const spec = specOf(type, input);
  return await time.client.workflow.start(WORKFLOW_TYPES[type], {
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowId: spec.workflowId,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    args: [input],
    ...options,
  } as Parameters<SimulatedTime['client']['workflow']['start']>[1]);
}

/** The failure with which a flow, or a command, ends. */
export const failsWith = (type: string, message = '') => ({
  cause: { type, message: expect.stringContaining(message) },
});

/** The keys under which something was asked for, without the name of the flow, each once, in the order of the first. */
export function keysOf(time: SimulatedTime, reference: string): string[] {
  const keys = time.requests.posts(reference).map(({ key = '' }) => key.slice(`payment-${reference}:`.length));
  return [...new Set(keys)];
}

/** What the activities of a flow were, as `createCharge`, in the order in which the server was given them. */
export async function scheduledOf(time: SimulatedTime, workflowId: string): Promise<string[]> {
  const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
}

/** The runs of a flow, oldest first, by the number of their events. Prints them. */
export function shownRuns(time: SimulatedTime, workflowId: string): number[] {
  const lengths = runLengths(time, workflowId);
  const all = lengths.reduce((sum, length) => sum + length, 0);
  const name = expect.getState().currentTestName;
  console.log(`${name}: ${lengths.length} runs, ${all} events, the longest run ${Math.max(...lengths)}`);
  return lengths;
}

/** How many events each run of a flow has. */
export function runLengths(time: SimulatedTime, workflowId: string): number[] {
  const runs = [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === workflowId);
  return runs.map(({ events }) => events.length);
}

/** A payment whose money somebody else with the same credentials holds. @returns its id */
export async function heldElsewhere(time: SimulatedTime, amount: number): Promise<string> {
  const keyed = () => ({ idempotencyKey: randomUUID() });
  const { token } = await time.sandbox.tokenize(CARDS.succeeds);
  const { data: payment } = await time.provider.createPayment({ amount, currency: 'USD' }, keyed());
  await time.provider.createAuthorization(payment.id, { paymentMethod: { type: 'tokenized', token } }, keyed());
  return payment.id;
}

/** Made by somebody else over 60.00 USD, it pends. */
export async function pendingElsewhere(time: SimulatedTime, kind: 'charge' | 'credit') {
  const keyed = () => ({ idempotencyKey: randomUUID() });
  const { token } = await time.sandbox.tokenize(CARDS.pendsThenSucceeds);
  const { data: payment } = await time.provider.createPayment({ amount: 6_000, currency: 'USD' }, keyed());
  const body = { paymentMethod: { type: 'tokenized', token } } as const;
  const { data } =
    kind === 'charge'
      ? await time.provider.createCharge(payment.id, body, keyed())
      : await time.provider.createCredit(payment.id, body, keyed());
  return { paymentId: payment.id, transactionId: data.id, kind, amount: 6_000, currency: 'USD' };
}

/** The same, and a flow follows it now. @returns its id, or the one that was given instead */
export async function followPending(
  time: SimulatedTime,
  kind: 'charge' | 'credit',
  ids: { transactionId?: string } = {},
): Promise<string> {
  const made = { ...(await pendingElsewhere(time, kind)), ...ids };
  await time.holdfast.resolvePending(made);
  return made.transactionId;
}
