import type { FinalOutcome } from '../../src/contract/outcomes.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-outcome.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { Movement } from './movements.js';
import type { FlowName } from './references.js';
import type { DemoStep } from './demo-step.js';

/** Final outcomes of a demo flow. */
export type Ending = FinalOutcome | SubscriptionEnded;

/** The required outcome of a flow. Any other outcome is a problem. */
export interface Expected {
  status: Ending['status'];
  /** More than one if a reply and its event race each other. Empty for a flow of several payments. */
  knownBy: readonly KnownBy[];
  /** Expected movements of money in the sandbox's ledger, oldest first. */
  moved: readonly Movement[];
}

export interface DemoFlow {
  name: FlowName;
  title: string;
  expected: Expected;
  /** The other valid outcome, where two commands race each other. */
  orElse?: Expected;
  /** Text for success, if it says more than the status does. */
  success?: string;
  /** Set if the flow's time is skipped. The flow then runs in an embedded environment of its own. */
  where?: 'embedded';
  /** The flow starts only after this. Two flows with skipped time would move the clock of each other's sandbox. */
  after?: Promise<unknown>;
  /** @throws ProblemError if a result on the way is wrong */
  run(step: DemoStep): Promise<Ending>;
}

/** Its message is one sentence for the user. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

export const REPLY_OR_EVENT: readonly KnownBy[] = ['reply', 'webhook'];

/** undefined for a flow of several payments, each of which has its own evidence. */
export function knownBy(outcome: Ending): KnownBy | undefined {
  return 'evidence' in outcome ? outcome.evidence.knownBy : undefined;
}

/** The sandbox's test cards. */
export const SUCCEEDS = '4111111111111111';
export const PENDS_THEN_SUCCEEDS = '5105105105105100';
