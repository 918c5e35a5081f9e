import { allHandlersFinished, ApplicationFailure, condition } from '@temporalio/workflow';
import { fingerprint } from '../src/contract/fingerprint.js';
import { paymentActionsWorkflowId, paymentWorkflowId, WORKFLOW_TYPES } from '../src/contract/names.js';
import type { TransactionEvent } from '../src/contract/messages.js';
import type { ParsedPaymentActionsInput, PaymentActionsResult } from '../src/contract/payment-actions.js';
import { paymentActionsInputSchema } from '../src/contract/payment-actions.js';
import { judgeLateEvent } from '../src/domain/late-events.js';
import { HOUR } from '../src/domain/schedules.js';
import { MAX_COMMANDS } from './flow/command-handlers.js';
import { nextHeard } from './flow/mailbox.js';
import { runIdleFlow } from './flow/open-flow.js';
import { guardStart, parseInput } from './flow/start-guard.js';
import type { FlowState, MoneyCommand } from './flow/state.js';
import { ignore } from './flow/state.js';
import { enter, publish } from './flow/visibility.js';
import { engineLookup } from './policies.js';
import { decodedOrRetry } from './steps/decoded-or-retry.js';
import type { Creator } from './steps/earlier-actions.js';
import { askOperator } from './steps/operator.js';
import { act } from './steps/payment-action.js';

const CLOSES_AFTER_MS = 30 * 24 * HOUR;
const KEPT_ACTIONS = 100;

/**
 * What is done to a payment after the flow that made it has ended: refunds, a void, a late capture, one at a
 * time. Closes when nothing has been asked for 30 days; the next command opens it again, and finds here what
 * was done before.
 */
export function paymentActions(raw: unknown): Promise<PaymentActionsResult> {
  let input: ParsedPaymentActionsInput;
  return runIdleFlow(
    () => {
      input = parseInput(paymentActionsInputSchema, raw);
      guardStart(paymentActionsWorkflowId(input.paymentId));
      return identityOf(input);
    },
    (flow) => story(flow, input),
  );
}

async function story(flow: FlowState, input: ParsedPaymentActionsInput): Promise<PaymentActionsResult> {
  flow.paymentId = input.paymentId;
  const earlier = decodedOrRetry(await engineLookup.findEarlierActions());
  flow.actions.push(...(earlier?.actions ?? []));
  const { paymentReference } = input;
  const creator: Creator = {
    workflowId: paymentReference === undefined ? undefined : paymentWorkflowId(paymentReference),
    actions: [],
    incomplete: earlier?.incomplete === true,
    disowned: [],
  };
  for (let closing = false; ;) {
    showIdle(flow);
    // The next command opens another run, which can take more.
    closing ||= flow.commands.size >= MAX_COMMANDS;
    const heard = await nextHeard(flow, closing ? 0 : CLOSES_AFTER_MS, 'Until nothing was asked for 30 days', false);
    if ('elapsed' in heard) {
      // Who has asked is answered first, and a command may come meanwhile.
      await condition(() => allHandlersFinished() || flow.queue.length > 0);
      if (flow.queue.length === 0) break;
      continue;
    }
    if ('command' in heard) {
      const { command } = heard;
      // A run made by a reset takes these (see `command-handlers.ts`); unanswered, they would keep this run from closing.
      if (command.name === 'decideReview') command.answer = { refusal: 'no review is open' };
      else if (command.name === 'reauthorize') command.answer = { refusal: 'no hold is open' };
      else closing = await perform(flow, creator, command);
    } else if ('letter' in heard) {
      const { letter } = heard;
      if (letter.kind === 'settle') letter.command.answer = { refusal: 'nothing is under way' };
      else if (letter.kind === 'event') heedLate(flow, letter.event);
      else ignore(flow, 'nothingToRetry');
    }
  }
  return { status: 'idle', paymentId: input.paymentId, actions: flow.actions.slice(-KEPT_ACTIONS) };
}

/** Acknowledged, and nobody else will hear it: what contradicts an answer that was given is for a person. */
function heedLate(flow: FlowState, event: TransactionEvent): void {
  const ofOurs = event.trusted && event.businessUnit === flow.businessUnit && event.paymentId === flow.paymentId;
  if (ofOurs && judgeLateEvent(event, { result: { actions: flow.actions } }) === 'contradicts') {
    askOperator(
      flow,
      `an event calls transaction ${event.transactionId} ${event.status}, and its command was answered otherwise`,
    );
  }
  ignore(flow, 'nothingIsUnderWay');
}

/** True when this run is of no use to the payment. */
async function perform(flow: FlowState, creator: Creator, command: MoneyCommand): Promise<boolean> {
  try {
    const { answer, unfit = false } = await act(flow, creator, command);
    command.answer = answer;
    return unfit;
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    command.answer = { refusal: error.message };
    return false;
  }
}

function showIdle(flow: FlowState): void {
  flow.transactionId = undefined;
  flow.settleable = false;
  if (flow.status === 'idle') return;
  enter(flow, { status: 'idle', waitingFor: 'command', needsOperator: null });
  publish(flow);
}

function identityOf({ paymentId, businessUnit, currency }: ParsedPaymentActionsInput) {
  const type = WORKFLOW_TYPES.paymentActions;
  const reference = paymentId;
  return {
    type,
    reference,
    amount: 0,
    currency,
    businessUnit,
    kind: 'refund' as const,
    phase: 'idle' as const,
    refuses: (_flow: FlowState, name: string) =>
      name === 'reauthorize' ? { refusal: 'the flow that held the money has ended: authorize anew' } : undefined,
    fingerprint: fingerprint({ type, reference, amount: 0, currency, businessUnit }),
  };
}
