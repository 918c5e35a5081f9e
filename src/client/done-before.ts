import type { Client } from '@temporalio/client';
import { canonical } from '../contract/canonical.js';
import { paymentWorkflowId } from '../contract/names.js';
import type { FinalStepOutcome } from '../contract/outcome.js';
import type { ActionRecord, PaymentActionsInput } from '../contract/payment-actions.js';
import type { Within } from './deadlines.js';
import { DESCRIBE_MS } from './deadlines.js';
import { decoded } from './decoded.js';
import { HoldfastError } from './errors.js';

/**
 * What the flow that made the payment says of this very command, from its own end: the caller has missed the answer. No
 * other flow is opened for it, which would have to look for the same. Undefined where it says nothing, or can't be read.
 * @throws HoldfastError `StateConflict` where that flow has refused it
 */
export async function doneBefore(
  client: Client,
  deadlines: Within,
  { paymentReference }: PaymentActionsInput,
  { name, request }: { name: ActionRecord['action']; request: { commandId?: string | undefined } },
): Promise<FinalStepOutcome | undefined> {
  // A flow gives back nothing of what it has taken itself.
  if (paymentReference === undefined || name === 'refund') return undefined;
  let actions: ActionRecord[];
  try {
    actions = await actionsOfEnded(client, deadlines, paymentReference);
  } catch {
    return undefined;
  }
  const asked = canonical(JSON.parse(JSON.stringify(request)) as object);
  const done = actions.find(
    (action) => action.commandId === request.commandId && action.action === name && action.request === asked,
  );
  if (done?.refusal !== undefined) throw new HoldfastError('StateConflict', done.refusal);
  return done?.outcome;
}

/** What an ended flow has done on command. */
async function actionsOfEnded(client: Client, deadlines: Within, reference: string): Promise<ActionRecord[]> {
  const ended = client.workflow.getHandle<() => Promise<{ actions?: ActionRecord[] }>>(paymentWorkflowId(reference));
  const { actions = [] } = decoded(await deadlines.within(Date.now() + DESCRIBE_MS, () => ended.result()));
  return actions;
}

/** A hold that has ended is not made anew; who repeats a command hears what it did. */
export async function renewedBefore(
  client: Client,
  deadlines: Within,
  reference: string,
  commandId: string,
): Promise<FinalStepOutcome> {
  const actions = await actionsOfEnded(client, deadlines, reference);
  const done = actions.find((action) => action.action === 'reauthorize' && action.commandId === commandId);
  if (done !== undefined) return done.outcome;
  throw new HoldfastError('StateConflict', `The flow of "${reference}" has ended; authorize under a new reference`);
}
