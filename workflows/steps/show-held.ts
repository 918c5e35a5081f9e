import { metricMeter } from '@temporalio/workflow';
import type { FlowState, Hold } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { ASK_OPERATOR_AFTER_TRIES } from './operator.js';

/** The money is held. A status that stays is not told again. */
export function showHeld(flow: FlowState, hold: Hold, soon: boolean): void {
  const { authorized, mustVoid, pursuit, terms } = hold;
  flow.kind = 'authorization';
  flow.stepAmount = flow.amount;
  flow.transactionId = authorized.transactionId;
  flow.settleable = hold.unlistedCapture === true;
  flow.settlesAmount = flow.settleable;
  const failing =
    pursuit.tries >= ASK_OPERATOR_AFTER_TRIES
      ? `the deadline has passed and ${pursuit.tries} tries to end the hold have failed`
      : undefined;
  // Whoever stores a card has never asked for a hold.
  const ofConsent = mustVoid === 'consent given';
  const status = ofConsent ? 'voiding' : 'authorized';
  const waitingFor = ofConsent ? 'provider' : soon ? 'captureSoonDue' : 'capture';
  const same = flow.status === status && flow.waitingFor === waitingFor;
  if (same && (failing === undefined || flow.needsOperator !== undefined)) return;
  if (soon && flow.waitingFor !== 'captureSoonDue' && pursuit.tries === 0) {
    metricMeter.createCounter('holdfast_capture_deadline_near').add(1, { business_unit: flow.businessUnit });
  }
  // What a look at the hold has raised meanwhile stays; what an earlier operation was flagged for is over.
  const needsOperator = failing ?? (flow.status === status ? flow.needsOperator : undefined) ?? null;
  enter(flow, { status, waitingFor, needsOperator });
  publish(flow, { dueAt: terms.captureBy });
}
