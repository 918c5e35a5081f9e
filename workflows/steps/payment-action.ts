import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { commandSequence, idempotencyKey } from '../../src/contract/idempotency-key.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import { allowedAmount, listsLag, sumsOf } from '../../src/domain/payment-sums.js';
import { pollDelay } from '../../src/domain/schedules.js';
import { showMoney } from '../../src/domain/show-money.js';
import { postUntil } from '../../src/domain/windows.js';
import { canonical } from '../flow/canonical.js';
import { nextLetter } from '../flow/mailbox.js';
import { noteAction } from '../flow/note-action.js';
import { happen, happened } from '../flow/phase.js';
import type { FlowState, MoneyCommand } from '../flow/state.js';
import { ignore } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { engineLookup } from '../policies.js';
import { beginStep } from './begin-step.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import type { MoneyOperation } from './money-step.js';
import { moneyStep, tryStep } from './money-step.js';
import { askOperator } from './operator.js';
import type { ReadFacts } from './read-facts.js';
import { readFacts } from './read-facts.js';

type Answer = NonNullable<MoneyCommand['answer']>;

const UNDER_WAY = { refund: 'refunding', void: 'voiding', capture: 'capturing' } as const;

/** One command to an ended payment: checked against what the service shows, sent once, followed to its end. */
export async function act(flow: FlowState, creator: Creator, command: MoneyCommand): Promise<Answer> {
  const { commandId, name, request } = command;
  happen(flow, name);
  const answered = (await creatorsWord(creator, creator.workflowId)) ?? alreadyDone(flow, creator, command);
  if (answered !== undefined) return refuse(flow, answered);

  beginStep(flow, name);
  enter(flow, { status: UNDER_WAY[name], waitingFor: 'provider', needsOperator: null, dueAt: null });
  publish(flow);
  const facts = await consistentFacts(flow, actionsOf(flow, creator));
  if (creator.actions === undefined) {
    const late = (await creatorsWord(creator, facts.holdfastWorkflowId)) ?? alreadyDone(flow, creator, command);
    if (late !== undefined) return refuse(flow, late);
  }
  const actions = actionsOf(flow, creator);
  const asked = 'amount' in request ? request.amount : undefined;
  const allowed = allowedAmount(name, asked, sumsOf(facts, actions), (amount) => showMoney(amount, flow.currency));
  if ('refusal' in allowed) {
    const type = allowed.badInput === true ? FAILURE_TYPES.invalidInput : FAILURE_TYPES.stateConflict;
    return refuse(flow, { refusal: allowed.refusal, type });
  }

  const { amount } = allowed;
  beginStep(flow, name, amount);
  const sequence = commandSequence(commandId);
  const ended = await tryStep(flow, moneyStep(flow, operationOf(flow, command, { amount, sequence, facts, actions })));
  if ('refused' in ended) return refuse(flow, { refusal: ended.refused.message });
  happened(flow, ended);
  noteAction(flow, command, sequence, ended);
  return { outcome: ended };
}

/** The flow that made the payment, as far as it is known. */
export interface Creator {
  /** Undefined for a payment made elsewhere, and before the service has been asked. */
  workflowId: string | undefined;
  /** Undefined while nobody has looked. */
  actions: ActionRecord[] | undefined;
}

/** While it is open, the flow that made the payment alone may act on it. */
async function creatorsWord(creator: Creator, workflowId: string | undefined): Promise<Answer | undefined> {
  if (workflowId === undefined || creator.actions !== undefined) return undefined;
  const { open, actions } = decodedOrRetry(await engineLookup.findCreator(workflowId));
  if (open) return { refusal: `the flow that made the payment is still open; send the command to "${workflowId}"` };
  creator.workflowId = workflowId;
  creator.actions = actions;
  return undefined;
}

/** A repeated command, to this run, an earlier one or the creating flow, is answered with what the first one did. */
function alreadyDone(
  flow: FlowState,
  creator: Creator,
  { commandId, name, request }: MoneyCommand,
): Answer | undefined {
  const earlier = actionsOf(flow, creator).find((done) => done.commandId === commandId);
  if (earlier === undefined) return undefined;
  if (earlier.action === name && earlier.request === canonical(request)) return { outcome: earlier.outcome };
  return {
    refusal: `command "${commandId}" was already given as ${earlier.action} with another request; use a new commandId`,
    type: FAILURE_TYPES.referenceConflict,
  };
}

function actionsOf(flow: FlowState, { actions = [] }: Creator): ActionRecord[] {
  return [...actions, ...flow.actions];
}

/** Nothing was sent. */
function refuse(flow: FlowState, answer: Answer): Answer {
  happen(flow, 'refused');
  return answer;
}

interface Plan {
  amount: number;
  sequence: string;
  facts: ReadFacts;
  actions: readonly ActionRecord[];
}

function operationOf(flow: FlowState, { name, request }: MoneyCommand, plan: Plan): MoneyOperation {
  const { amount, sequence, facts, actions } = plan;
  const own = actions.filter((done) => done.action === name).flatMap(({ outcome }) => outcome.transactionId ?? []);
  const reconciliationId = ('reference' in request ? request.reference : undefined) ?? `${name}-${sequence}`;
  const key = idempotencyKey(flow.workflowId, name, sequence);
  const common = {
    paymentId: flow.paymentId ?? '',
    operation: name,
    sequence,
    knownTransactionIds: own,
    notedTransactionIds: othersOf(facts[`${name}s`], own, key, reconciliationId),
    postUntil: postUntil(flow.stepStartedAt, false),
  };
  switch (name) {
    case 'void':
      return { ...common, post: (activities, call) => activities.createVoid(call) };
    case 'capture':
      return {
        ...common,
        reconciliationId,
        post: (activities, call) =>
          activities.createCapture({ ...call, reconciliationId, knownTransactionIds: own, capture: { amount } }),
      };
    default: {
      const { captureId, reason } = request as { captureId?: string; reason?: string };
      const refund = { amount, ...(captureId !== undefined && { captureId }), ...(reason !== undefined && { reason }) };
      return {
        ...common,
        reconciliationId,
        post: (activities, call) =>
          activities.createRefund({ ...call, reconciliationId, knownTransactionIds: own, refund }),
      };
    }
  }
}

/** What stood there before the first POST of this intent, and is not by it: a run made by a reset may see its own. */
function othersOf(
  records: readonly TransactionRecord[],
  own: readonly string[],
  key: string,
  reconciliationId: string,
): string[] {
  return records
    .filter((record) => record.holdfastKey !== key && record.reconciliationId !== reconciliationId)
    .map(({ transactionId }) => transactionId)
    .filter((id) => !own.includes(id));
}

/** The payment as the service shows it, once all that is asked answers and its lists fit its state. */
async function consistentFacts(flow: FlowState, actions: readonly ActionRecord[]): Promise<ReadFacts> {
  for (let reads = 0; ; reads += 1) {
    const facts = await readFacts(flow);
    if (!('unreadable' in facts) && !listsLag(facts, sumsOf(facts, actions))) return facts;
    if (reads === ASK_OPERATOR_AFTER_READS) {
      const why = 'unreadable' in facts ? facts.unreadable : 'its lists do not fit its state';
      askOperator(flow, `nothing is sent before the payment can be read: ${why}`);
    }
    const letter = await nextLetter(flow, pollDelay(reads), 'Until the payment can be read');
    if (letter?.kind === 'settle') letter.command.answer = { refusal: 'nothing has been sent yet' };
    else if (letter?.kind === 'event') ignore(flow, 'nothingSentYet');
  }
}

const ASK_OPERATOR_AFTER_READS = 6;
