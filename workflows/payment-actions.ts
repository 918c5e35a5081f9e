import { allHandlersFinished, ApplicationFailure, condition } from '@temporalio/workflow';
import { FLOWS } from '../src/contract/flows.js';
import { paymentWorkflowId } from '../src/contract/names.js';
import type { ParsedPaymentActionsInput, PaymentActionsResult } from '../src/contract/payment-actions.js';
import { HOUR } from '../src/domain/schedules.js';
import { nextHeard } from './flow/mailbox.js';
import type { FlowTraits } from './flow/new-state.js';
import { runIdleFlow } from './flow/open-flow.js';
import { MANY_COMMANDS } from './flow/refuse.js';
import { kept, stage } from './flow/stages.js';
import type { FlowState, MoneyCommand } from './flow/state.js';
import { ignore } from './flow/state.js';
import { enter, publish } from './flow/visibility.js';
import { engineLookup } from './policies.js';
import { decodedOrRetry } from './steps/decoded-or-retry.js';
import type { Creator } from './steps/earlier-actions.js';
import { act } from './steps/payment-action.js';
import { dropUnsigned, keepsSigned, lookNow, nextLookAt, placeEvents } from './steps/place-events.js';

const CLOSES_AFTER_MS = 30 * 24 * HOUR;
const KEPT_ACTIONS = 100;

/**
 * What is done to a payment after the flow that made it has ended: refunds, a void, a late capture, one at a
 * time. Closes when nothing has been asked for 30 days; the next command opens it again, and finds here what
 * was done before.
 */
export function paymentActions(raw: unknown, carried?: unknown): Promise<PaymentActionsResult> {
  return runIdleFlow([raw, carried], { flow: FLOWS.paymentActions, traitsOf }, (flow, input) =>
    stage(
      flow,
      'paymentActions',
      () => notesOf(input),
      (notes) => story(flow, input, notes),
    ),
  );
}

/** What goes along when the flow continues as new. */
interface Notes {
  creator: Creator;
  /** What was done in earlier runs stands in `flow.actions`. */
  opened?: true;
  closing: boolean;
  /** Epoch ms: it closes then, unless something is asked before. */
  until?: number | undefined;
  /** That is carried out. */
  command?: MoneyCommand | undefined;
}

function notesOf({ paymentReference }: ParsedPaymentActionsInput): Notes {
  const workflowId = paymentReference === undefined ? undefined : paymentWorkflowId(paymentReference);
  return { creator: { workflowId, actions: [], incomplete: false, disowned: [] }, closing: false };
}

async function story(flow: FlowState, input: ParsedPaymentActionsInput, notes: Notes): Promise<PaymentActionsResult> {
  flow.paymentId = input.paymentId;
  await kept(notes, 'opened', async () => {
    const earlier = decodedOrRetry(await engineLookup.findEarlierActions());
    flow.actions.push(...(earlier?.actions ?? []));
    Object.assign(flow.refusedLists, earlier?.refusedLists);
    notes.creator.incomplete = earlier?.incomplete === true;
    return true as const;
  });
  if (notes.command !== undefined) await perform(flow, notes, notes.command);
  for (;;) {
    showIdle(flow);
    // The next command opens another run, which can take more.
    if (!notes.closing && flow.commands.size >= MANY_COMMANDS) close(flow, notes);
    // A command that waits may be what an event is about.
    if (flow.queue.length === 0) await placeEvents(flow);
    // An event is nothing that was asked for.
    notes.until ??= Date.now() + CLOSES_AFTER_MS;
    // Whoever is to look must be able to say that they have.
    const until = notes.closing && flow.lasting === undefined ? Date.now() : notes.until;
    const lookAt = nextLookAt(flow);
    const looks = lookAt !== undefined && (lookAt < until || keepsSigned(flow));
    const heard = looks
      ? await nextHeard(flow, Math.max(0, lookAt - Date.now()), 'Until the flow of an event is looked for', false)
      : await nextHeard(flow, until - Date.now(), 'Until nothing was asked for 30 days', false);
    if ('elapsed' in heard) {
      // The run before this one may have waited for an event.
      if (keepsSigned(flow) || Date.now() < until) continue;
      // Who has asked is answered first, and a command may come meanwhile.
      await condition(() => allHandlersFinished() || flow.queue.length > 0);
      if (flow.queue.length === 0 && flow.mailbox.length === 0) break;
      continue;
    }
    if ('command' in heard) {
      const { command } = heard;
      // A run made by a reset takes these (see `command-handlers.ts`); unanswered, they would keep this run from closing.
      if (command.name === 'decideReview') command.answer = { refusal: 'no review is open' };
      else if (command.name === 'reauthorize') command.answer = { refusal: 'no hold is open' };
      else await perform(flow, notes, command);
    } else if ('letter' in heard) {
      const { letter } = heard;
      if (letter.kind === 'settle') letter.command.answer = { refusal: 'nothing is under way' };
      else if (letter.kind === 'event') ignore(flow, 'nothingIsUnderWay');
      else heedRetry(flow, letter.seen);
    }
  }
  dropUnsigned(flow);
  // What the unit's setting says each run learns at once, and a setting may change.
  const refused = Object.entries(flow.refusedLists).filter(([, { bySetting }]) => !bySetting);
  return {
    status: 'idle',
    paymentId: input.paymentId,
    actions: flow.actions.slice(-KEPT_ACTIONS),
    ...(refused.length > 0 && { refusedLists: Object.fromEntries(refused) }),
  };
}

/** A run that proves to be of no use to the payment is closed. */
async function perform(flow: FlowState, notes: Notes, command: MoneyCommand): Promise<void> {
  notes.command = command;
  notes.closing = false;
  try {
    const { answer, unfit = false } = await act(flow, notes.creator, command);
    command.answer = answer;
    if (unfit) close(flow, notes);
    else if ('outcome' in answer) lookNow(flow);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    command.answer = { refusal: error.message };
  }
  notes.command = undefined;
  notes.until = undefined;
}

/** What is kept is asked about first: of what the run still keeps then, only signed events put off its end. */
function close(flow: FlowState, notes: Notes): void {
  notes.closing = true;
  lookNow(flow);
}

/** `seen`: why a person was to look when they said that they have. */
function heedRetry(flow: FlowState, seen: string | undefined): void {
  const isSeen = seen !== undefined && seen === flow.lasting;
  if (!isSeen && nextLookAt(flow) === undefined) ignore(flow, 'nothingToRetry');
  lookNow(flow);
  if (!isSeen) return;
  flow.lasting = undefined;
  enter(flow, { needsOperator: null });
  publish(flow);
}

function showIdle(flow: FlowState): void {
  flow.transactionId = undefined;
  flow.settleable = false;
  if (flow.status === 'idle') return;
  enter(flow, { status: 'idle', waitingFor: 'command', needsOperator: flow.lasting ?? null });
  publish(flow);
}

function traitsOf(): FlowTraits {
  return {
    unplaced: [],
    refuses: (_flow, name) =>
      name === 'reauthorize' ? { refusal: 'the flow that held the money has ended: authorize anew' } : undefined,
  };
}
