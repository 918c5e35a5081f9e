import type { FinalOutcome } from '../../src/contract/outcomes.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-outcome.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { Movement } from './movements.js';
import type { FlowName } from './references.js';
import type { Scene } from './scene.js';

/** How a flow of the demo can end. */
export type Ending = FinalOutcome | SubscriptionEnded;

/** What a flow must end with; anything else is a problem. */
export interface Expected {
  status: Ending['status'];
  /** More than one where a reply and its event race each other; none where it is made of several payments. */
  knownBy: readonly KnownBy[];
  /** Movements of money in the sandbox's ledger, oldest first. */
  moved: readonly Movement[];
}

export interface DemoFlow {
  name: FlowName;
  title: string;
  expected: Expected;
  /** As good an end, where two commands race each other. */
  orElse?: Expected;
  /** How its success is called, where that says more than the status does. */
  success?: string;
  /** Set where its time is jumped: it then runs in a world of its own. */
  where?: 'throwaway';
  /** It begins only then: two flows whose time is jumped would move each other's sandbox. */
  after?: Promise<unknown>;
  /** @throws ProblemError when something on the way is not as it should be */
  run(scene: Scene): Promise<Ending>;
}

/** Its message is one sentence for the person who watches. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

export const REPLY_OR_EVENT: readonly KnownBy[] = ['reply', 'webhook'];

/** Absent where a flow is made of several payments, each with an evidence of its own. */
export function knownBy(outcome: Ending): KnownBy | undefined {
  return 'evidence' in outcome ? outcome.evidence.knownBy : undefined;
}

/** Test cards of the sandbox. */
export const SUCCEEDS = '4111111111111111';
export const PENDS_THEN_SUCCEEDS = '5105105105105100';
