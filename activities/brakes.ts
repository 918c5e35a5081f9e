import type { CreatePaymentCall } from '../src/contract/activity-calls.js';
import type { Stoppable } from '../src/contract/brakes.js';
import { isStopped, sayBrake } from '../src/domain/brakes.js';
import { ProviderError } from '../src/provider/index.js';
import { whySentBefore } from './after-restore.js';
import { taskWasLost } from './engine-calls.js';
import type { ActivityDeps } from './read-call.js';
import { BRAKE } from './to-application-failure.js';

/** During a deploy, flows of code that knows no brakes send again after that time: without it at once, for ever. */
const OLDER_FLOWS_WAIT_MS = 300_000;

/**
 * Refuses a POST that the brake of its business unit stops. Call it last before the POST.
 * @throws ProviderError that proves that this attempt was not sent
 */
export function refuseIfBraked({ brakeOf }: ActivityDeps, businessUnit: string, what: Stoppable): void {
  const brake = brakeOf?.(businessUnit);
  if (brake === undefined || !isStopped(brake, what)) return;
  throw new ProviderError(`Not sent: ${sayBrake(brake)}`, {
    kind: 'refused',
    operation: BRAKE,
    mayHaveLeft: false,
    retryAfterMs: OLDER_FLOWS_WAIT_MS,
  });
}

/**
 * The same for the payment of a flow, whichever of its two units is braked. If a lost task, or a run before this one, may
 * have charged, the POST is let through: it moves no money, and only its answer tells on which payment to look.
 * @param asked the unit that the flow was asked to use
 */
export async function refusePaymentIfBraked(deps: ActivityDeps, call: CreatePaymentCall, asked: string): Promise<void> {
  try {
    for (const unit of new Set([asked, call.businessUnit])) refuseIfBraked(deps, unit, 'payments');
  } catch (error) {
    if ((await whySentBefore(deps, call)) === undefined && !(await taskWasLost(deps))) throw error;
  }
}
