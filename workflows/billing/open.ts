import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { FLOWS } from '../../src/contract/flows.js';
import { isUndecodable } from '../../src/contract/undecodable.js';
import { invalidInput, parseStart } from '../flow/start-guard.js';
import { newSubscription } from './handlers.js';
import { refuseSubscriptionStart } from './refuse-start.js';
import { type Billing, type Carried, CARRIED_VERSION, type Unopened, UNOPENED } from './state.js';

/**
 * Opens the flow of a subscription, or refuses its start.
 * @throws ApplicationFailure `InvalidInput` with every fault; Error if an earlier run may have billed
 */
export async function openSubscription(raw: unknown, carried: Carried | Unopened | undefined): Promise<Billing> {
  const later = workflowInfo().continuedFromExecutionRunId !== undefined;
  try {
    const input = parseStart(FLOWS.subscription, raw);
    if (!later && carried !== undefined) throw invalidInput(['a second argument is for later runs only']);
    if (isUndecodable(carried)) throw invalidInput(["what the run before left can't be decoded"]);
    // Starting over would bill paid periods again; state of a later version would lose fields.
    if (later && carried?.v !== CARRIED_VERSION && carried?.v !== UNOPENED)
      throw invalidInput(['nothing that it can read was left by the run before']);
    const flow = newSubscription(input, carried);
    const scope = CancellationScope.current();
    flow.isCancelled = () => scope.consideredCancelled;
    scope.cancelRequested.catch(() => undefined);
    return flow;
  } catch (failure) {
    // An earlier run may have billed: what this worker can't read fails the task and waits for another worker.
    if (later) throw new Error(`This worker can't go on: ${failure instanceof Error ? failure.message : 'unknown'}`);
    return await refuseSubscriptionStart(failure, raw);
  }
}
