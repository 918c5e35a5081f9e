import { isDeepStrictEqual } from 'node:util';
import { businessUnitsSetting, PLAIN_UNIT, type ProfileUnit } from '../../tools/stack/profile-units.js';
import { paymentActionsWorkflowId, paymentWorkflowId } from '../../src/contract/names.js';
import type { CaptureCommand } from '../../src/contract/messages.js';
import type { OutcomeBase } from '../../src/contract/outcome.js';
import { HoldfastError } from '../../src/client/errors.js';
import type { FaultInput, SandboxControl } from '../../sandbox/control.js';
import { CARDS, newReference } from './charges.js';
import type { TestStack } from './stack.js';

/** Its service says nowhere whose a transaction is: neither by reconciliation id nor by our key. */
export const SILENT_UNIT: ProfileUnit = {
  name: 'silent',
  appId: 'holdfast-sandbox-silent',
  privateKey: 'sandbox-private-key-silent',
  publicKey: 'sandbox-public-key-silent',
  profile: { echo_reconciliation_id: false, echo_additional_details: false },
};

/**
 * Value of `HOLDFAST_BUSINESS_UNITS` for these units, each of which analyses risks itself.
 * @param more settings of all of them
 */
export function unitsWithRisk(units: readonly ProfileUnit[], more: Partial<ProfileUnit> = {}): string {
  const setting = JSON.parse(businessUnitsSetting([PLAIN_UNIT, ...units])) as Record<string, object>;
  const entries = Object.entries(setting).map(([name, unit]) => [name, { ...unit, riskUnit: name, ...more }]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** What has been done with one payment, by the flow that is to be reset. */
export interface Travelled {
  readonly workflowId: string;
  readonly paymentId: string;
  /** Each says one thing again, as its caller would, and answers what its caller is told. */
  readonly questions: readonly (() => Promise<unknown>)[];
}

type Ledger = Awaited<ReturnType<SandboxControl['ledger']>>;
type Path = (stack: TestStack, unit: ProfileUnit) => Promise<Travelled>;

const AMOUNT = 20_000;
/** Where the service is silent a refund that may have been made is not known again before an operator has looked. */
const waitFor = (unit: ProfileUnit) => ({ waitFor: unit === SILENT_UNIT ? '1 second' : '15 seconds' });

async function inputOn({ sandbox }: TestStack, { name, publicKey }: ProfileUnit) {
  const { token } = await sandbox.tokenize({ cardNumber: CARDS.succeeds, publicKey });
  return {
    reference: newReference(name),
    amount: AMOUNT,
    currency: 'USD',
    businessUnit: name,
    paymentMethod: { type: 'tokenized' as const, token },
  };
}

type Question = (stack: TestStack, reference: string) => Promise<unknown>;

const ended: Question = ({ temporal }, reference) => temporal.workflow.getHandle(paymentWorkflowId(reference)).result();

function held(commands: readonly Question[], faults: FaultInput[] = []): Path {
  return async (stack, unit) => {
    const input = await inputOn(stack, unit);
    for (const fault of faults) await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
    const { paymentId = '' } = await stack.holdfast.authorize(input);
    for (const command of commands) await command(stack, input.reference);
    return {
      workflowId: paymentWorkflowId(input.reference),
      paymentId,
      questions: [...commands, ended].map((question) => () => question(stack, input.reference)),
    };
  };
}

function unheld(begin: (stack: TestStack, input: Awaited<ReturnType<typeof inputOn>>) => Promise<OutcomeBase>): Path {
  return async (stack, unit) => {
    const input = await inputOn(stack, unit);
    const { paymentId = '' } = await begin(stack, input);
    const questions = [() => ended(stack, input.reference)];
    return { workflowId: paymentWorkflowId(input.reference), paymentId, questions };
  };
}

const capture =
  (request: CaptureCommand): Question =>
  (stack, reference) =>
    stack.holdfast.capture(reference, request);
const release: Question = (stack, reference) => stack.holdfast.void(reference, { commandId: 'released' });

const POST = { method: 'POST', times: 1 } as const;

/** Every flow but the plain charge, each by the ways on which its money can move. */
export const RESET_PATHS: Readonly<Record<string, Path>> = {
  'an authorization that was captured': held([capture({ commandId: 'whole' })]),
  'an authorization that was captured in part, its reply lost': held(
    [capture({ commandId: 'part', amount: 6_000 })],
    [{ ...POST, action: 'drop_reply', path: '*/captures' }],
  ),
  'an authorization that was voided': held([release]),
  'an authorization whose capture was declined, and then voided': held(
    [capture({ commandId: 'first' }), release],
    [{ ...POST, action: 'result', path: '*/captures', status: 'Failed', category: 'payment_method_declined' }],
  ),
  'a payment that was refunded twice, one reply lost': async (stack, unit) => {
    const input = await inputOn(stack, unit);
    const { paymentId = '' } = await stack.holdfast.charge(input);
    const refund = (commandId: string, amount: number) => () =>
      stack.holdfast.refund({ payment: input.reference, commandId, amount }, waitFor(unit));
    // The second takes more than is left once both have been made.
    const questions = [refund('one', 6_000), refund('two', 8_000)];
    await stack.sandbox.addFault({ ...POST, action: 'drop_reply', path: `*${paymentId}/refunds` });
    for (const question of questions) await question();
    return { workflowId: paymentActionsWorkflowId(paymentId), paymentId, questions };
  },
  'a credit': unheld((stack, input) => stack.holdfast.credit(input)),
  'a charge whose risk was analysed': unheld((stack, input) => stack.holdfast.charge({ ...input, risk: {} })),
};

/** What every question is answered, without what tells by which run and when it was found. A refusal is an answer. */
export async function answers({ questions }: Travelled): Promise<unknown[]> {
  const answered: unknown[] = [];
  for (const question of questions) answered.push(withoutEvidence(await question().catch(refusal)));
  return answered;
}

function refusal(error: unknown): object {
  if (error instanceof HoldfastError) return { refused: `${error.type}: ${error.message}` };
  throw error;
}

/** A run that finds its own capture done does not say what becomes of the rest of the hold. */
const LEFT_OUT = ['evidence', 'knownBy', 'released'];

function withoutEvidence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEvidence);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !LEFT_OUT.includes(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutEvidence(inner)]));
}

/** What the ledger say of one payment. */
export async function ledgerOf({ sandbox }: TestStack, paymentId: string): Promise<Ledger> {
  return (await sandbox.ledger()).filter((entry) => entry.payment_id === paymentId);
}

export function isUnknown(answer: unknown): boolean {
  return (answer as { status?: string }).status === 'unknown';
}

/**
 * Says what it said the first time; or will not do what had not been done. Where the service is `silent` it may also
 * say that it does not know, and refuse what it can't tell apart.
 */
export function isHonest(answered: readonly unknown[], first: readonly unknown[], silent: boolean): boolean {
  return answered.every((answer, index) => {
    const before = first[index];
    if (saysNothingElse(answer, before)) return true;
    const { refused } = answer as { refused?: string };
    if (silent) return isUnknown(answer) || refused !== undefined;
    return refused !== undefined && (before as { status?: string }).status === 'declined';
  });
}

/**
 * It may say less: who finds its hold captured or voided by a call that this run did not send knows that it was, and not
 * by whom, through which provider or by which transaction.
 */
function saysNothingElse(answer: unknown, before: unknown): boolean {
  const was = before as Record<string, unknown>;
  return Object.entries(answer as object).every(
    ([name, value]) =>
      isDeepStrictEqual(value, was[name]) ||
      (name === 'reason' && value === 'elsewhere') ||
      (name === 'actions' && isPartOf(value, was[name])),
  );
}

function isPartOf(some: unknown, all: unknown): boolean {
  if (!Array.isArray(some) || !Array.isArray(all)) return false;
  return some.every((one) => all.some((other) => isDeepStrictEqual(one, other)));
}
