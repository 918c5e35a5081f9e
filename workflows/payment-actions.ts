import { patched } from '@temporalio/workflow';
import { HOUR_MS } from '../src/contract/time-units.js';
import { shownDispute } from '../src/contract/disputes.js';
import { FLOWS } from '../src/contract/flows.js';
import { FAILURE_TYPES, PATCHES } from '../src/contract/names.js';
import {
  KEPT_ACTIONS,
  type ParsedPaymentActionsInput,
  type PaymentActionsResult,
} from '../src/contract/payment-actions.js';
import {
  enter,
  type FlowState,
  type FlowTraits,
  ignore,
  kept,
  type Message,
  MANY_COMMANDS,
  type MoneyCommand,
  nextCommandOrMessage,
  publish,
  type Refusal,
  runIdleFlow,
  resumable,
  untilAnswered,
} from './flow/story.js';
import { announceRefusal } from './flow/announce.js';
import { forgetRefused } from './flow/refuse.js';
import { mayBeOfLostTime } from './flow/restored.js';
import { decidesAfterReset } from './kit/start-guard.js';
import { type Creator, creatorOf, restoreActions } from './steps/earlier-actions.js';
import { followDispute } from './steps/follow-dispute.js';
import { act } from './steps/payment-action.js';
import { dropUnsigned, keepsSigned, lookAgain, lookNow, nextLookAt, placeEvents } from './steps/events.js';

const CLOSES_AFTER_MS = 30 * 24 * HOUR_MS;

/**
 * What is done to a payment after the flow that made it has ended: refunds, a void, a late capture, one at a time.
 * Closes when no command came for 30 days; the next command opens a new run, which finds what earlier runs did.
 */
export function paymentActions(raw: unknown, carried?: unknown): Promise<PaymentActionsResult> {
  return runIdleFlow([raw, carried], { flow: FLOWS.paymentActions, traitsOf }, (flow, input) => {
    const begin = (): Notes => ({ creator: creatorOf(input.paymentReference), closing: false });
    return resumable(flow, 'paymentActions', begin, (notes) => story(flow, input, notes));
  });
}

/** What is carried when the flow continues as new. */
interface Notes {
  creator: Creator;
  /** Set once `flow.actions` contains the actions of earlier runs. */
  opened?: true;
  closing: boolean;
  /** Epoch ms: the run closes then, unless a command comes before. */
  until?: number | undefined;
  /** The command being executed. */
  command?: MoneyCommand | undefined;
}

async function story(flow: FlowState, input: ParsedPaymentActionsInput, notes: Notes): Promise<PaymentActionsResult> {
  flow.paymentId = input.paymentId;
  flow.lookBeside = () => followDispute(flow, notes.creator);
  await kept(notes, 'opened', () => restoreActions(flow, notes.creator));
  if (notes.command !== undefined) await executeCommand(flow, notes, notes.command);
  for (;;) {
    showIdle(flow);
    // The next command opens another run, which can take more.
    if (!notes.closing && flow.commands.size >= MANY_COMMANDS) close(flow, notes);
    // An event may be about a command that is still queued, so the queue goes first.
    if (flow.queue.length === 0) await placeEvents(flow, notes.creator);
    if (flow.queue.length === 0) await followDispute(flow, notes.creator);
    const next = await nextOrClosing(flow, notes);
    if (next === 'closing') {
      // Waiting callers are answered first and merchants told, and a command may come meanwhile.
      await untilAnswered(flow);
      if (flow.queue.length === 0 && flow.inbox.length === 0) break;
    } else if ('message' in next) handle(flow, notes.creator, next.message);
    else if ('command' in next) {
      const { command } = next;
      // A run made by a reset accepts these (see `command-handlers.ts`); unanswered, they would keep this run open.
      if (command.name === 'decideReview') command.answer = { refusal: 'no review is open' };
      else if (command.name === 'reauthorize') command.answer = { refusal: 'no hold is open' };
      else await executeCommand(flow, notes, command);
    }
  }
  dropUnsigned(flow);
  // Lists refused by the unit's setting are left out: each run reads the setting at once, and it may change.
  const refused = Object.entries(flow.refusedLists).filter(([, { bySetting }]) => !bySetting);
  return {
    status: 'idle',
    paymentId: input.paymentId,
    actions: flow.actions.slice(-KEPT_ACTIONS),
    ...((notes.creator.told ?? []).length > 0 && { toldOfCreator: notes.creator.told }),
    ...disputed(flow),
    ...(refused.length > 0 && { refusedLists: Object.fromEntries(refused) }),
  };
}

/** The next command or message. `closing` once the run's time is over and no signed event is kept. */
async function nextOrClosing(flow: FlowState, notes: Notes) {
  // An event doesn't extend the 30 days: it is no command.
  notes.until ??= Date.now() + CLOSES_AFTER_MS;
  // The run stays open while an operator has to look, so that `retryNow` can confirm it.
  const until = notes.closing && flow.lasting === undefined ? Date.now() : notes.until;
  const lookAt = nextLookAt(flow);
  const looks = lookAt !== undefined && (lookAt < until || keepsSigned(flow));
  const next = looks
    ? await nextCommandOrMessage(
        flow,
        Math.max(0, lookAt - Date.now()),
        'Until the flow of an event is looked for',
        false,
      )
    : await nextCommandOrMessage(flow, until - Date.now(), 'Until nothing was asked for 30 days', false);
  // The wait may come from the previous run, which waited for the flow of an event only.
  return 'elapsed' in next && !keepsSigned(flow) && Date.now() >= until ? 'closing' : next;
}

function handle(flow: FlowState, creator: Creator, message: Message): void {
  if (message.kind === 'settle') message.command.answer = { refusal: 'nothing is under way' };
  else if (message.kind === 'event') ignore(flow, 'nothingIsUnderWay');
  else lookAgain(flow, creator, message.seen);
}

/** Executes one command. Closes a run that proves unfit for the payment. */
async function executeCommand(flow: FlowState, notes: Notes, command: MoneyCommand): Promise<void> {
  notes.command = command;
  // What is unfit for one command stays so when another one is executed: given again, that is for the next run.
  if (notes.closing && !patched(PATCHES.forgetsRefusals)) notes.closing = false;
  const { answer, unfit = false, untold = false } = await act(flow, notes.creator, command);
  command.answer = answer;
  if ('refusal' in answer && !untold) tellOfRefusal(flow, notes.creator, command, answer);
  if (unfit) {
    forgetRefused(flow, command);
    close(flow, notes);
  } else if ('outcome' in answer) lookNow(flow);
  notes.command = undefined;
  notes.until = undefined;
}

/**
 * A refund may be refused days after it was taken, when whoever gave it waits for no answer any more. Nothing was sent for
 * it here; a run that this one knows nothing of may have sent it, and then nothing is told.
 */
function tellOfRefusal(flow: FlowState, { incomplete }: Creator, command: MoneyCommand, answer: Refusal): void {
  // What the id was first given for is told by itself.
  if (command.name !== 'refund' || answer.type === FAILURE_TYPES.referenceConflict) return;
  if (incomplete === true || mayBeOfLostTime(flow, command) || decidesAfterReset()) return;
  announceRefusal(flow, command, answer.refusal);
}

/** Looks for the flows of kept events at once. After that only signed events delay the end of the run. */
function close(flow: FlowState, notes: Notes): void {
  notes.closing = true;
  lookNow(flow);
}

function showIdle(flow: FlowState): void {
  flow.transactionId = undefined;
  flow.settleable = false;
  if (flow.status !== 'idle')
    enter(flow, { status: 'idle', waitingFor: 'command', needsOperator: flow.lasting ?? null });
  // A command that waits shows its own state at once, and each write is a billable action.
  if (flow.queue.length === 0) publish(flow);
}

/** For the runs that follow. */
function disputed({ dispute }: FlowState): Pick<PaymentActionsResult, 'disputed'> {
  if (dispute === undefined) return {};
  return { disputed: { ...shownDispute(dispute), ...(dispute.untold === true && { untold: true }) } };
}

function traitsOf(): FlowTraits {
  return {
    unplaced: [],
    refuses: (_flow, name) =>
      name === 'reauthorize' ? { refusal: 'the flow that held the money has ended: authorize again' } : undefined,
  };
}
