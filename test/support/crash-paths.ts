import type { ProfileUnit } from '../../tools/stack/profile-units.js';
import { paymentActionsWorkflowId, paymentWorkflowId } from '../../src/contract/names.js';
import { CARDS, chargeInput, newReference } from './charges.js';
import { authorizeInput, MOCK_FRIENDLY } from './payments.js';
import { serviceOf } from './service.js';
import type { TestStack } from './stack.js';

/** Kinds of transactions, as the ledger names them. */
type Kind = 'charge' | 'authorization' | 'capture' | 'void' | 'refund';

/** What a caller is told, as far as all answers have it. */
export interface CrashAnswer {
  readonly status: string;
  readonly amount?: number;
  readonly currency: string;
  readonly paymentId?: string;
  readonly transactionId?: string;
  /** Of a hold that has ended; its transaction is then the one that ended it. */
  readonly authorizationId?: string;
}

/** One thing that a caller wants, and asks for until it has it. */
export interface Question {
  /** The one transaction that it makes: its kind, and its amount in minor units. */
  readonly makes: Kind;
  readonly amount: number;
  /** What it may be answered in the end. An honest "not executed" would be the wrong answer to a crash. */
  readonly wanted: readonly string[];
  ask(options: { waitFor: string | number }): Promise<CrashAnswer>;
}

/** One payment on its way along a path. */
export interface Journey {
  /** In the keys and task tokens of its flow, and in no other's. */
  readonly name: string;
  readonly workflowId: string;
  /** Of the transaction that pends on the way. */
  readonly reconciliationId: string;
  /** What the ledger had before the first question. */
  readonly before: readonly { makes: Kind; amount: number }[];
  /** In turn. */
  readonly questions: readonly Question[];
}

/** One way through a flow. */
export interface CrashPath {
  readonly name: string;
  /** Does undisturbed what comes before the crash. */
  begin(stack: TestStack): Promise<Journey>;
  /** A first send that never arrives. The regular activity has to do it then, so that its events are there to be hit. */
  readonly lost?: 'createPayment' | 'createCharge' | 'authorize';
  /** What ends a transaction that pends on the way. */
  readonly settledBy?: 'event' | 'poll';
  /** Crash points only from this call on: what comes before is like that of another path. */
  readonly from?: { readonly call: string; readonly nth: number };
}

/** Its holds come to their deadline after six sevenths of this. */
export const BRIEF_UNIT: ProfileUnit = {
  name: 'brief',
  appId: 'holdfast-sandbox-brief',
  privateKey: 'sandbox-private-key-brief',
  publicKey: 'sandbox-public-key-brief',
  profile: {},
  holdDuration: '2 seconds',
};

const WHOLE = MOCK_FRIENDLY;
const PART = 5_000;
/** A capture of this pends in the mock provider. */
const PENDS = 2_500;
const SUCCEEDED = ['succeeded'];

function charging(card: keyof typeof CARDS): CrashPath['begin'] {
  return async ({ sandbox, holdfast }) => {
    const input = await chargeInput(sandbox, CARDS[card], { reference: newReference('crash') });
    const ask: Question['ask'] = (options) => holdfast.charge(input, options);
    return ofPayment(input.reference, [{ makes: 'charge', amount: input.amount, wanted: SUCCEEDED, ask }]);
  };
}

type ToHold = (stack: TestStack, reference: string) => Question;

/** The authorization is one of the questions. */
function authorizingAnd(...then: ToHold[]): CrashPath['begin'] {
  return async (stack) => {
    const input = await authorizeInput(stack, CARDS.succeeds, { reference: newReference('crash') });
    const ask: Question['ask'] = (options) => stack.holdfast.authorize(input, options);
    const wanted = ['authorized', 'captured', 'voided'];
    const authorize: Question = { makes: 'authorization', amount: WHOLE, wanted, ask };
    return ofPayment(input.reference, [authorize, ...then.map((question) => question(stack, input.reference))]);
  };
}

/** The money is held already. */
function heldAnd(question: ToHold): CrashPath['begin'] {
  return async (stack) => {
    const journey = await authorizingAnd(question)(stack);
    const [authorize, ...questions] = journey.questions;
    await authorize?.ask({ waitFor: '20 seconds' });
    return { ...journey, before: [{ makes: 'authorization', amount: WHOLE }], questions };
  };
}

function capture(amount?: number): ToHold {
  return ({ holdfast }, reference) => {
    const request = { commandId: 'take', ...(amount !== undefined && { amount }) };
    const ask: Question['ask'] = (options) => holdfast.capture(reference, request, options);
    return { makes: 'capture', amount: amount ?? WHOLE, wanted: SUCCEEDED, ask };
  };
}

const release: ToHold = ({ holdfast }, reference) => {
  const ask: Question['ask'] = (options) => holdfast.void(reference, { commandId: 'released' }, options);
  return { makes: 'void', amount: WHOLE, wanted: SUCCEEDED, ask };
};

const untilTheDeadline: CrashPath['begin'] = async (stack) => {
  const { token } = await stack.sandbox.tokenize({ cardNumber: CARDS.succeeds, publicKey: BRIEF_UNIT.publicKey });
  const input = await authorizeInput(stack, CARDS.succeeds, {
    reference: newReference('crash'),
    businessUnit: BRIEF_UNIT.name,
    // Longer than there is time: one wait, however slow the machine is, and not two that may become one.
    deadlineWarning: '1 hour',
    paymentMethod: { type: 'tokenized', token },
  });
  const ask: Question['ask'] = (options) => stack.holdfast.authorize(input, options);
  const look: Question['ask'] = async () => {
    // A question would be written to the history.
    const status = await stack.holdfast.status(input.reference);
    return status.outcome ?? { ...status, status: 'unknown' };
  };
  return ofPayment(input.reference, [
    { makes: 'authorization', amount: WHOLE, wanted: ['authorized', 'voided'], ask },
    { makes: 'void', amount: WHOLE, wanted: ['voided'], ask: look },
  ]);
};

const refunding: CrashPath['begin'] = async ({ sandbox, holdfast }) => {
  const input = await chargeInput(sandbox, CARDS.succeeds, { reference: newReference('crash'), amount: WHOLE });
  const { paymentId = '' } = await holdfast.charge(input);
  const request = { payment: input.reference, amount: PART, commandId: 'refund' };
  const ask: Question['ask'] = (options) => holdfast.refund(request, options);
  return ofActions(paymentId, 'charge', { makes: 'refund', amount: PART, wanted: SUCCEEDED, ask });
};

/** Of money that somebody else holds: what our own flows hold they release themselves. */
const voidingElsewhere: CrashPath['begin'] = async (stack) => {
  const service = serviceOf(stack);
  const { token } = await stack.sandbox.tokenize(CARDS.succeeds);
  const { id } = await service.post('/payments', { amount: WHOLE, currency: 'USD' });
  await service.post(`/payments/${id}/authorizations`, { payment_method: { type: 'tokenized', token } });
  const payment = { payment: id, currency: 'USD' };
  const ask: Question['ask'] = (options) => stack.holdfast.void(payment, { commandId: 'released' }, options);
  return ofActions(id, 'authorization', { makes: 'void', amount: WHOLE, wanted: SUCCEEDED, ask });
};

function ofPayment(reference: string, questions: readonly Question[]): Journey {
  const workflowId = paymentWorkflowId(reference);
  return { name: reference, workflowId, reconciliationId: reference, before: [], questions };
}

function ofActions(paymentId: string, made: Kind, question: Question): Journey {
  const workflowId = paymentActionsWorkflowId(paymentId);
  const before = [{ makes: made, amount: WHOLE }];
  return { name: paymentId, workflowId, reconciliationId: paymentId, before, questions: [question] };
}

const succeeding = charging('succeeds');
const pending = charging('pendsThenSucceeds');

/** What the first calls do inside the first task. */
export const LOCAL_CHARGES: readonly CrashPath[] = [
  { name: 'charge', begin: succeeding },
  { name: 'charge that pends', begin: pending, settledBy: 'event' },
];

export const CHARGES: readonly CrashPath[] = [
  ...LOCAL_CHARGES,
  { name: 'charge, first POST lost', begin: succeeding, lost: 'createPayment' },
  { name: 'charge, first charge lost', begin: succeeding, lost: 'createCharge' },
  { name: 'charge that pends, first POST lost', begin: pending, lost: 'createPayment', settledBy: 'event' },
  { name: 'charge that pends, first charge and event lost', begin: pending, lost: 'createCharge', settledBy: 'poll' },
];

/** Every way on which a hold ends, and what is done to a payment after its flow has ended. */
export const COMMANDS: readonly CrashPath[] = [
  { name: 'authorization, captured', begin: authorizingAnd(capture()) },
  {
    name: 'authorization, first one lost, released',
    begin: authorizingAnd(release),
    lost: 'authorize',
    from: { call: 'RespondWorkflowTaskCompleted', nth: 1 },
  },
  { name: 'capture of a part', begin: heldAnd(capture(PART)) },
  {
    name: 'capture that pends',
    begin: heldAnd(capture(PENDS)),
    settledBy: 'event',
    from: { call: 'POST capture', nth: 1 },
  },
  { name: 'deadline', begin: untilTheDeadline, from: { call: 'RespondWorkflowTaskCompleted', nth: 2 } },
  { name: 'refund', begin: refunding },
  { name: 'void of a payment of others', begin: voidingElsewhere, from: { call: 'POST void', nth: 1 } },
];
