import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import { canonical } from './canonical.js';
import type { FlowState, MoneyCommand, RenewCommand } from './state.js';

/** Keeps a command that was carried out, with what came of it. */
export function noteAction(
  flow: FlowState,
  { commandId, name, request }: MoneyCommand | RenewCommand,
  sequence: number | string,
  outcome: FinalStepOutcome,
): ActionRecord {
  const reference = 'reference' in request ? request.reference : undefined;
  const record: ActionRecord = {
    commandId,
    action: name,
    request: canonical(request),
    key: idempotencyKey(flow.workflowId, name === 'reauthorize' ? 'authorize' : name, sequence),
    amount: outcome.amount,
    ...(reference !== undefined && { reference }),
    outcome: inShort(outcome),
  };
  flow.actions.push(record);
  return record;
}

const SHORT = 100;

/** A thousand commands travel from run to run: there is no room for all that a provider may write of each. */
function inShort(outcome: FinalStepOutcome): FinalStepOutcome {
  if (outcome.details === undefined) return outcome;
  const {
    documents: _documents,
    additionalInformation: _information,
    omitted: _omitted,
    card,
    ...texts
  } = outcome.details;
  const details = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.length <= SHORT));
  return { ...outcome, details: { ...details, ...(card !== undefined && { card }) } };
}
