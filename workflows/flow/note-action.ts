import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { canonical } from '../../src/contract/canonical.js';
import type { FlowState, MoneyCommand, ReauthorizeRequest } from './state.js';

/**
 * Records an executed command with its outcome.
 * @param refusal what its caller gets instead
 * @returns the answer to its caller
 */
export function noteAction(
  flow: FlowState,
  { commandId, name, request }: MoneyCommand | ReauthorizeRequest,
  sequence: number | string,
  outcome: FinalStepOutcome,
  refusal?: string,
): { outcome: FinalStepOutcome } | { refusal: string } {
  const reference = 'reference' in request ? request.reference : undefined;
  flow.actions.push({
    commandId,
    action: name,
    request: canonical(request),
    key: idempotencyKey(flow.workflowId, name === 'reauthorize' ? 'authorize' : name, sequence),
    amount: outcome.amount,
    ...(reference !== undefined && { reference }),
    outcome: inShort(outcome),
    ...(refusal !== undefined && { refusal }),
  });
  return refusal === undefined ? { outcome } : { refusal };
}

const SHORT = 100;

/** A thousand commands are carried from run to run: there is no room for everything a provider may say about each. */
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
