import { ApplicationFailure } from '@temporalio/workflow';
import { FAILURE_TYPES, type FailureType } from '../../src/contract/names.js';
import { commandSequence, idempotencyKey } from '../../src/contract/idempotency.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { allowedAmount, sumsOf, sumsOfCapture } from '../../src/domain/payment-sums.js';
import { showMoney } from '../../src/domain/money.js';
import { announceCommand } from '../flow/announce.js';
import { decidedOutcome, noteAction } from '../flow/outcomes.js';
import { resumable } from '../flow/continue.js';
import type { FlowState, MoneyCommand, PendingVoids, SettleCommand } from '../flow/state.js';
import { enter } from '../flow/explain.js';
import { forgetRefused } from '../flow/refuse.js';
import { publish } from '../kit/visibility.js';
import { type Acted, badInput, whileOpen } from './acted.js';
import { beginStep, moneyStep, tryExecute } from './money-step.js';
import { consistentFacts, countMade } from './read-facts.js';
import {
  actionsOf,
  alreadyDone,
  answeredSince,
  type Creator,
  creatorsWord,
  madeBefore,
  isForeignPayment,
  isOfForeignFlow,
  noteNews,
  perhapsDone,
} from './earlier-actions.js';
import { type Cleared, clearOutgoing } from './clear-outgoing.js';
import { refusesDisputed } from './follow-dispute.js';
import { endLateVoids, otherCapture, planLateVoid, whyRefused } from './late-voids.js';
import { foundBefore } from './open-tries.js';
import { operationOf, type Plan, planOf, untilToldWhose } from './planned-action.js';
import { settle, type Voids } from './settle.js';
import { noPendingVoids, pendingVoids } from './void-pending.js';

const UNDER_WAY = { refund: 'refunding', void: 'voiding', capture: 'capturing' } as const;

/**
 * Executes one command to a payment whose flow has ended: checks it against the service, sends it once, follows it to
 * its end.
 */
export async function act(flow: FlowState, creator: Creator, command: MoneyCommand): Promise<Acted> {
  try {
    return await acted(flow, creator, command);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    return { answer: { refusal: error.message } };
  }
}

async function acted(flow: FlowState, creator: Creator, command: MoneyCommand): Promise<Acted> {
  return await resumable(
    flow,
    'act',
    (): Acting => ({}),
    async (notes) => {
      noteNews(flow, creator);
      const prepared = await cleared(flow, creator, command, notes);
      if ('answer' in prepared) return prepared;
      const sequence = commandSequence(command.commandId);
      const { so, beside } = notes;
      const voids = so && pendingVoids(flow, so, planLateVoid(flow, creator, beside));
      if ('record' in prepared) return await settleMade(flow, creator, command, { sequence, voids }, prepared);
      flow.approved ??= notes.approved;
      const ended = await tryExecute(flow, {
        ...moneyStep(flow, operationOf(flow, command, prepared)),
        ...(voids !== undefined && { voids }),
      });
      if ('refused' in ended)
        return { answer: { refusal: ended.refused.message, type: ended.refused.type as FailureType } };
      if (so !== undefined) await endLateVoids(flow, so, ended);
      return done(flow, command, sequence, ended);
    },
  );
}

/** Progress of a command, for the run that continues it. */
interface Acting extends Pick<Cleared, 'refused' | 'approved'> {
  plan?: Plan | undefined;
  made?: Made;
  /** The amount that its business unit lets be sent, or that another person has decided about. */
  cleared?: number;
  /** What it is about to be let send, in minor units, and since when (epoch ms). */
  toClear?: { amount: number; at: number };
  /** An operator must say which of these the command has created, if any. */
  perhaps?: TransactionRecord[];
  /** For a capture, which may be voided while it is pending. */
  so?: PendingVoids;
  /** Why the capture may not be voided, whatever later reads show. */
  beside?: string | undefined;
}

/** How it is sent, once its business unit lets it. */
async function cleared(
  flow: FlowState,
  creator: Creator,
  command: MoneyCommand,
  notes: Acting,
): Promise<Acted | Plan | Made> {
  const { commandId, name, request } = command;
  for (;;) {
    const prepared = notes.made ?? notes.plan ?? (await prepareOrAsk(flow, creator, command, notes));
    if ('answer' in prepared || 'record' in prepared || name !== 'refund' || flow.limitsOutgoing !== true)
      return prepared;
    // No run before has sent it: this one has just looked again.
    const sequence = commandSequence(commandId);
    if (notes.refused !== undefined) return done(flow, command, sequence, notes.refused);
    notes.toClear ??= { amount: flow.stepAmount, at: flow.stepStartedAt };
    const { amount, at } = notes.toClear;
    if (notes.cleared === amount) return prepared;
    const key = idempotencyKey(flow.workflowId, name, sequence);
    const isUnnamedSum = !('amount' in request) || request.amount === undefined;
    const again = notes.cleared !== undefined;
    const sent = { operation: name, commandId, key, amount, isUnnamedSum, askedBy: request.who, at, again };
    const meanwhile = async (other: MoneyCommand): Promise<void> => {
      const { answer, unfit } = await act(flow, creator, other);
      other.answer = answer;
      if (unfit === true) forgetRefused(flow, other);
    };
    const { waited, refused, unnamed, approved } = await clearOutgoing(flow, { ...sent, meanwhile });
    delete notes.toClear;
    if (unnamed !== undefined) return badInput(`nothing was sent: ${unnamed}, under a new commandId`);
    notes.cleared = amount;
    notes.refused = refused;
    notes.approved = approved;
    // Others may have refunded meanwhile.
    if (waited === true) notes.plan = undefined;
  }
}

/** A transaction that an earlier run created: it is followed instead of sent again. */
interface Made {
  record: TransactionRecord;
  /** The operator's decision that it is the command's. */
  decision?: SettleCommand;
  /** For a void: minor units that may have been captured when it was found. */
  captured?: number;
}

async function settleMade(
  flow: FlowState,
  creator: Creator,
  command: MoneyCommand,
  { sequence, voids }: { sequence: string; voids: Voids | undefined },
  { record, decision, captured }: Made,
): Promise<Acted> {
  const outcome = await settle(flow, foundBefore(record), undefined, voids);
  if (voids !== undefined) await endLateVoids(flow, voids.so, outcome);
  if (decision !== undefined) {
    const { who, why } = decision.request;
    outcome.evidence = { ...outcome.evidence, operator: { who, why } };
  }
  const refusal =
    command.name === 'void' && outcome.status === 'succeeded'
      ? await whyRefused(flow, creator, captured ?? 0, outcome)
      : undefined;
  const acted = done(flow, command, sequence, outcome, refusal);
  if (decision !== undefined) decision.answer = acted.answer;
  return acted;
}

function prepareOrAsk(
  flow: FlowState,
  creator: Creator,
  command: MoneyCommand,
  notes: Acting,
): Promise<Acted | Plan | Made> {
  const { perhaps } = notes;
  if (perhaps === undefined) return prepare(flow, creator, command, notes);
  return askWhose(flow, creator, command, perhaps, notes);
}

/** Checks the command. What follows is saved in `notes`. */
async function prepare(
  flow: FlowState,
  creator: Creator,
  command: MoneyCommand,
  notes: Acting,
): Promise<Acted | Plan | Made> {
  const { commandId, name, request } = command;
  const open = await creatorsWord(flow, creator, creator.workflowId);
  const answered = open ?? alreadyDone(flow, creator, command);
  const unfit = await isForeignPayment(flow, creator, answered !== undefined);
  if (unfit !== undefined) return { answer: unfit, unfit: true };
  if (open !== undefined) return whileOpen(open);
  if (answered !== undefined) return { answer: answered };

  beginStep(flow, name);
  enter(flow, { status: UNDER_WAY[name], waitingFor: 'provider', needsOperator: null, dueAt: null });
  publish(flow);
  const read = await consistentFacts(flow, creator);
  if ('refusal' in read) return { answer: read, unfit: true };
  // Without a recorded result nothing of that flow was used; the flow that the payment names is looked up below.
  const another = creator.made && isOfForeignFlow(flow, creator, read.holdfastWorkflowId);
  if (another !== undefined) return { answer: another, unfit: true };
  const since = await answeredSince(flow, creator, command, read.holdfastWorkflowId);
  if (since !== undefined) return since.isOpen ? whileOpen(since.answer) : { answer: since.answer };
  const facts = countMade(flow, creator, read);
  noteNews(flow, creator);
  const actions = actionsOf(flow, creator);
  const sequence = commandSequence(commandId);
  const asked = 'amount' in request ? request.amount : undefined;
  const made = madeBefore(flow, command, sequence, facts, actions);
  if (name === 'capture') {
    notes.so = noPendingVoids();
    notes.beside = otherCapture(flow, creator, facts, made?.transactionId);
  }
  const sums = sumsOf(facts, actions);
  const show = (amount: number): string => showMoney(amount, flow.currency);
  if (made !== undefined) {
    const followed = follow(flow, command, made, made.amount ?? facts.amount, notes);
    if ('record' in followed) followed.captured = sums.capturedAtMost;
    return followed;
  }

  const disputed = refusesDisputed(flow, command);
  if (disputed !== undefined) return { answer: disputed };
  const captureId = 'captureId' in request ? request.captureId : undefined;
  const capture = captureId === undefined ? undefined : sumsOfCapture(facts, actions, captureId);
  if (captureId !== undefined && capture === undefined)
    return badInput(`captureId: the payment has no capture ${captureId}`);
  const allowed = allowedAmount(name, asked, sums, show, capture);
  if ('refusal' in allowed) {
    const type = allowed.badInput === true ? FAILURE_TYPES.invalidInput : FAILURE_TYPES.stateConflict;
    return { answer: { refusal: allowed.refusal, type }, ...(allowed.notYet === true && { unfit: true }) };
  }

  const { amount } = allowed;
  beginStep(flow, name, amount);
  const perhaps = perhapsDone(creator, command, amount, facts, actions);
  if (perhaps.length > 0) {
    notes.perhaps = perhaps;
    return await askWhose(flow, creator, command, perhaps, notes);
  }
  notes.plan = planOf(flow, command, { amount, asked, sequence, facts, actions });
  return notes.plan;
}

/** The creating flow may have executed the command, and no record says so: only an operator can tell. */
async function askWhose(
  flow: FlowState,
  creator: Creator,
  command: MoneyCommand,
  perhaps: readonly TransactionRecord[],
  notes: Acting,
): Promise<Acted | Made> {
  const { decision, made } = await untilToldWhose(flow, creator, command, perhaps);
  if (made === undefined) {
    creator.disowned.push(...perhaps.map(({ transactionId }) => transactionId));
    return done(flow, command, commandSequence(command.commandId), decidedOutcome(flow, decision));
  }
  const followed = follow(flow, command, made, flow.stepAmount, notes, decision);
  if ('answer' in followed) decision.answer = followed.answer;
  return followed;
}

/** Follows the transaction instead of sending the command again. */
function follow(
  flow: FlowState,
  command: MoneyCommand,
  record: TransactionRecord,
  amount: number,
  notes: Acting,
  decision?: SettleCommand,
): Acted | Made {
  const { commandId, name, request } = command;
  const asked = 'amount' in request ? request.amount : undefined;
  if (asked !== undefined && asked !== amount) {
    const refusal = `command "${commandId}" was already given over ${showMoney(amount, flow.currency)}; use a new commandId`;
    return { answer: { refusal, type: FAILURE_TYPES.referenceConflict } };
  }
  beginStep(flow, name, amount);
  notes.made = { record, ...(decision !== undefined && { decision }) };
  return notes.made;
}

/** @param refusal the caller's answer instead of the outcome, now and when the command is repeated */
function done(
  flow: FlowState,
  command: MoneyCommand,
  sequence: string,
  outcome: FinalStepOutcome,
  refusal?: string,
): Acted {
  // A void beside money that was captured may have reversed nothing.
  if (refusal === undefined) announceCommand(flow, command, outcome);
  return { answer: noteAction(flow, command, sequence, outcome, refusal) };
}
