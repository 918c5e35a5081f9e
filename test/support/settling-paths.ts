import { PLAIN_UNIT, type ProfileUnit } from '../../tools/stack/profile-units.js';
import { HoldfastError } from '../../src/client/errors.js';
import type { FaultInput, SandboxControl } from '../../sandbox/control.js';
import { CARDS, newReference } from './charges.js';
import { SILENT_UNIT } from './reset-paths.js';
import type { TestStack } from './stack.js';
import { until } from './until.js';

export type Operation = 'authorization' | 'capture' | 'void' | 'refund' | 'credit';
export type Ending = 'Succeed' | 'Failed';

/** Above what the mock provider refuses or lets pend by itself. */
const AMOUNT = 20_000;
const PART = 6_000;
const DECLINED = { category: 'payment_method_declined', subCategory: 'insufficient_funds' };
const ASK = { waitFor: '2 seconds' } as const;

interface Answer {
  readonly status: string;
  readonly transactionId?: string;
  readonly evidence?: { readonly knownBy: string };
}

/** A payment, as far as the operation needs it. */
interface Begun {
  readonly reference: string;
  /** Asks for the operation, always for the same one. */
  ask(): Promise<Answer>;
}

type Begin = (stack: TestStack, input: Awaited<ReturnType<typeof inputOn>>) => Promise<Begun>;

const ofPayment = (reference: string, ask: Begun['ask']): Begun => ({
  reference,
  ask,
});

const held: (command: (stack: TestStack, reference: string) => Promise<Answer>) => Begin =
  (command) => async (stack, input) => {
    const { status } = await stack.holdfast.authorize(input, { waitFor: '30 seconds' });
    if (status !== 'authorized') throw new Error(`The authorization is ${status}`);
    return ofPayment(input.reference, () => command(stack, input.reference));
  };

const OPERATIONS: Readonly<Record<Operation, Begin>> = {
  authorization: async ({ holdfast }, input) => ofPayment(input.reference, () => holdfast.authorize(input, ASK)),
  capture: held(({ holdfast }, reference) => holdfast.capture(reference, { commandId: 'take' }, ASK)),
  void: held(({ holdfast }, reference) => holdfast.void(reference, { commandId: 'released' }, ASK)),
  refund: async ({ holdfast }, input) => {
    await holdfast.charge(input, { waitFor: '30 seconds' });
    const request = { payment: input.reference, amount: PART, reference: `${input.reference}-back` };
    return {
      reference: input.reference,
      ask: () => holdfast.refund(request, ASK),
    };
  },
  credit: async ({ holdfast }, input) => ofPayment(input.reference, () => holdfast.credit(input, ASK)),
};

/** What is made of an operation, and how the flow may come to know how it ended. */
export interface SettlingPath {
  readonly unit?: ProfileUnit;
  readonly pends: boolean;
  readonly faults?: readonly FaultInput[];
  readonly events?: 'out of order';
  readonly knownBy: readonly string[];
}

const LOST_REPLY: FaultInput = { action: 'drop_reply', method: 'POST', times: 1 };
const ANYHOW = ['reply', 'webhook', 'poll'];

export const SETTLING_PATHS: Readonly<Record<string, SettlingPath>> = {
  'pends, and an event says': { pends: true, knownBy: ['webhook', 'poll'] },
  'pends, and its events come in the wrong order': {
    pends: true,
    events: 'out of order',
    knownBy: ['webhook', 'poll'],
  },
  // Those of its payment, which name no reference, come all the same and make it look.
  'pends, and all of its events are lost': {
    pends: true,
    faults: [{ action: 'lose_event' }],
    knownBy: ['webhook', 'poll'],
  },
  // What is done later to a payment finds its flow by the payment.
  'pends, and its events carry no reference': { pends: true, unit: SILENT_UNIT, knownBy: ['webhook', 'poll'] },
  'loses its reply': { pends: false, faults: [LOST_REPLY], knownBy: ANYHOW },
  'loses its reply and pends': { pends: true, faults: [LOST_REPLY], knownBy: ANYHOW },
  'loses its reply, its events and its name': {
    pends: false,
    unit: SILENT_UNIT,
    faults: [LOST_REPLY, { action: 'lose_event' }],
    knownBy: ['reply', 'poll'],
  },
};

export interface Settled {
  readonly answer: Answer;
  /** The same once more, after whatever came late. */
  readonly again: Answer;
  /** The operation's transactions in the ledger. */
  readonly entries: Awaited<ReturnType<SandboxControl['ledger']>>;
  /** What was planted to disturb it, and never met it. */
  readonly unmet: readonly string[];
}

/** Sends one operation along one path to one ending. */
export async function travel(
  stack: TestStack,
  operation: Operation,
  { unit = PLAIN_UNIT, pends, faults = [], events }: SettlingPath,
  ending: Ending,
): Promise<Settled> {
  const { sandbox } = stack;
  const begun = await OPERATIONS[operation](stack, await inputOn(stack, unit));
  const planted = new Set<string>();
  const path = `*/${operation}s`;
  const result = { status: pends ? 'Pending' : ending, ...(!pends && ending === 'Failed' && SNAKE_DECLINED) };
  for (const fault of [
    ...faults.map((one) => (one.action === 'lose_event' ? one : { ...one, path })),
    { action: 'result', method: 'POST', path, times: 1, ...result } as const,
    ...(events === 'out of order' ? overtaking(operation) : []),
  ]) {
    planted.add((await sandbox.addFault({ ...fault, reconciliation_id: `${begun.reference}*` })).id);
  }

  const asking = untilFinal(begun);
  if (pends) {
    const pending = await until(
      () => entriesOf(stack, begun, operation),
      ([entry]) => entry?.status === 'Pending',
    );
    const { transaction_id: id = '' } = pending[0] ?? {};
    await sandbox.complete(id, { status: ending, ...(ending === 'Failed' && DECLINED) });
  }
  const answer = await asking;
  if (events === 'out of order') await untilDelivered(stack, begun, operation);
  const unmet = (await sandbox.faults()).filter(({ id, fired }) => planted.has(id) && fired === 0);
  return {
    answer,
    again: await untilFinal(begun),
    entries: await entriesOf(stack, begun, operation),
    unmet: unmet.map(({ action }) => action),
  };
}

/** What it became arrives before what it was, and twice. */
function overtaking(operation: Operation): FaultInput[] {
  return [
    { action: 'delay_event', path: `payment.${operation}.create`, delay_ms: 2_000 },
    { action: 'repeat_event', path: `payment.${operation}.update` },
  ];
}

const SNAKE_DECLINED = { category: DECLINED.category, sub_category: DECLINED.subCategory };

async function inputOn({ sandbox }: TestStack, { name, publicKey }: ProfileUnit) {
  const { token } = await sandbox.tokenize({ cardNumber: CARDS.succeeds, publicKey });
  return {
    reference: newReference('settling'),
    amount: AMOUNT,
    currency: 'USD',
    businessUnit: name,
    paymentMethod: { type: 'tokenized' as const, token },
  };
}

async function untilFinal(begun: Begun): Promise<Answer> {
  return await until(
    async () => await begun.ask().catch(notAnswered),
    ({ status }) => status !== 'pending' && status !== 'unknown',
    90_000,
  );
}

/** On a busy machine an answer may come too late for its caller, who asks again then. */
function notAnswered(error: unknown): Answer {
  if (error instanceof HoldfastError && error.type === 'EngineUnavailable') return { status: 'unknown' };
  throw error;
}

async function entriesOf({ sandbox }: TestStack, { reference }: Begun, operation: Operation) {
  const [first] = await sandbox.ledger(reference);
  const ledger = first === undefined ? [] : await sandbox.ledger();
  return ledger.filter(({ kind, payment_id }) => kind === operation && payment_id === first?.payment_id);
}

/** Deliveries of these can't be told by the reference of the payment. */
const WITHOUT_ITS_REFERENCE: ReadonlySet<Operation> = new Set(['void', 'refund']);

/** What was held back has come as well. */
async function untilDelivered({ sandbox }: TestStack, { reference }: Begun, operation: Operation): Promise<void> {
  if (WITHOUT_ITS_REFERENCE.has(operation)) return;
  await until(
    () => sandbox.deliveries({ reconciliationId: reference }),
    (deliveries) =>
      deliveries
        .filter(({ event_type: type }) => type.startsWith(`payment.${operation}.`))
        .every(({ status }) => status !== 'pending'),
  );
}
