import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { postUntil } from '../../src/domain/windows.js';
import { stage } from '../flow/stages.js';
import type { FlowState, Hold, MoneyCommand } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { beginStep } from './begin-step.js';
import type { MoneyStep } from './money-step.js';
import { moneyStep, tryStep } from './money-step.js';

export type CaptureOf = Extract<MoneyCommand, { name: 'capture' }>;

/**
 * Lets go of the hold, and follows that to its end.
 * @param unlessCaptured in a run made by a reset, where the activity looks first: no command of the flow hangs on it
 */
export async function sendVoid(flow: FlowState, hold: Hold, notLooked = false, unlessCaptured = false) {
  const begin = (): object => {
    beginStep(flow, 'void');
    flow.notLooked = notLooked;
    hold.sequences.void += 1;
    show(flow, hold);
    return {};
  };
  const { paymentId = '' } = flow;
  const ended = await stage(flow, 'sendVoid', begin, () =>
    tryStep(
      flow,
      moneyStep(flow, {
        paymentId,
        operation: 'void',
        sequence: hold.sequences.void,
        knownTransactionIds: [...hold.voids],
        postUntil: postUntil(flow.stepStartedAt, false),
        post: (activities, call) =>
          activities.createVoid({ ...call, ...(unlessCaptured && { unlessCaptured: true as const }) }),
      }),
    ),
  );
  if (!('refused' in ended)) note(hold.voids, ended);
  return ended;
}

export function captureStep(flow: FlowState, hold: Hold, command: CaptureOf | undefined): MoneyStep {
  const { paymentId = '', stepAmount: amount } = flow;
  // The service takes the whole for what is not named; from the second one on it wants to hear how much.
  const capture = command?.request.amount === undefined && hold.captures.length === 0 ? {} : { amount };
  const reconciliationId = command?.request.reference ?? flow.reference;
  return moneyStep(flow, {
    paymentId,
    operation: 'capture',
    sequence: hold.sequences.capture,
    reconciliationId,
    knownTransactionIds: [...hold.captures],
    postUntil: postUntil(flow.stepStartedAt, false),
    post: (activities, call) =>
      activities.createCapture({
        ...call,
        reconciliationId,
        knownTransactionIds: call.knownTransactionIds ?? [],
        capture,
      }),
  });
}

/**
 * A capture or void is under way: what is pending or unknown from here on is that one. While the rest of a capture is let
 * go the flow shows as captured.
 */
export function show(flow: FlowState, { pursuit, taken }: Hold): void {
  if (taken !== undefined) return;
  const status = flow.kind === 'void' ? 'voiding' : 'capturing';
  // Somebody who was called because tries fail is not sent away by the next one.
  const calm = pursuit.tries === 0 ? { needsOperator: null } : {};
  enter(flow, { status, waitingFor: 'provider', dueAt: null, ...calm });
  publish(flow);
}

export function note(ids: string[], { transactionId }: FinalStepOutcome): void {
  if (transactionId !== undefined) ids.push(transactionId);
}
