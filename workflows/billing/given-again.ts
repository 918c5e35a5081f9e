import { type ActivityFailure, CancellationScope, condition, patched, workflowInfo } from '@temporalio/workflow';
import { FAILURE_TYPES, PATCHES } from '../../src/contract/names.js';
import { decidesAfterReset, isMadeByReset } from '../kit/start-guard.js';
import type { Billing, OpenPeriod, Refusal, SubscriptionCommand } from './state.js';
import { tellOf } from './tell.js';

/**
 * Notes when this run begins to decide anew, if a reset has made it: in that task it is given all commands again. It is
 * looked at in every task, since a person's first command must not be taken for one where none is given again.
 */
export function watchReset(flow: Billing): void {
  if (!isMadeByReset()) return;
  const look = (): boolean => {
    // Not at once but after all messages of the task, whose order in a replay is another one: it records a marker.
    if (flow.resetAt === undefined || isOfRunBefore(flow)) void Promise.resolve().then(() => begin(flow));
    return false;
  };
  void CancellationScope.nonCancellable(() => condition(look));
}

/** A reset of a run that another reset has made has copied the task in which that one began to decide anew. */
function isOfRunBefore({ madeIn }: Billing): boolean {
  // Empty where an older worker has answered.
  return madeIn !== undefined && madeIn !== '' && madeIn !== workflowInfo().runId;
}

function begin(flow: Billing): void {
  const isFirst = flow.resetAt === undefined && decidesAfterReset();
  // Each run has a marker of its own: the copied history has that of the run before, or none.
  const isFurther = !isFirst && isOfRunBefore(flow) && patched(`${PATCHES.afterReset}-${flow.madeIn ?? ''}`);
  if (!isFirst && !isFurther) return;
  flow.resetAt = Date.now();
  delete flow.madeIn;
  flow.afterReset = true;
  for (const command of flow.queue) command.again = true;
}

/** For the handler of a command that comes in the task in which the run begins. */
export function isGivenAgain({ resetAt }: Billing): { again?: true } {
  return resetAt === Date.now() ? { again: true } : {};
}

/** Whether the calendar must be asked in which run that was: a later reset may copy it. */
export function isRunUnknown({ resetAt, madeIn }: Billing): boolean {
  return resetAt !== undefined && madeIn === undefined;
}

/**
 * The commands given again by which something else may be billed, or not be billed, than before; none if the
 * subscription ends by one of them. Those that were refused before are done now, and all hold at one instant.
 */
function doubtful({ commands }: Billing): SubscriptionCommand[] {
  const again = [...commands.values()].filter((command) => command.again === true);
  return again.some(({ name, request }) => name === 'cancel' && 'when' in request && request.when === 'now')
    ? []
    : again.filter(changesBills);
}

function changesBills({ name, request }: SubscriptionCommand): boolean {
  switch (name) {
    case 'pause':
    case 'resume':
    case 'changePlan':
    case 'skipPeriod':
    case 'setAmount':
      return true;
    case 'changeTerms':
      return [request.dunning, request.missedPeriods, request.periods, request.endsOn].some((one) => one !== undefined);
    default:
      return false;
  }
}

/**
 * Executes a command that a reset gives again. Nothing is billed after it before a person has looked: the subscription
 * is paused first, or once a pause has been given again that nothing has ended.
 */
export async function executeAgain<Done>(flow: Billing, execute: () => Promise<Done>): Promise<Done> {
  const commands = doubtful(flow);
  const isStill = flow.paused === undefined && commands.every(({ name }) => name === 'pause');
  if (commands.length > 0 && !isStill) doubtAll(flow, commands);
  const done = await execute();
  if (commands.length > 0 && isStill && flow.paused !== undefined) doubtAll(flow, commands);
  return done;
}

function doubtAll(flow: Billing, commands: SubscriptionCommand[]): void {
  const { length } = commands;
  // Sorted: in a replay signals come before updates.
  const names = [...new Set(commands.map(({ name }) => name))].sort().join(', ');
  const what = `${length} ${length === 1 ? 'command' : 'commands'} (${names})`;
  const why =
    `a reset has given it again ${what}, and what was refused or over before may hold now: look at its payments and at ` +
    `\`bills\`, correct by new commands what is wrong, and then ${RESUME_IT}`;
  const doubt = flow.paused?.doubt;
  // One in the same words may be carried from a run before: somebody has ended it since, by a `resume` that is given again.
  const isNoted = doubt?.why.includes(why) === true && doubt.since >= (flow.resetAt ?? 0);
  if (!isNoted) pauseInDoubt(flow, why, 'commands');
}

/** `billAll` bills what is due and not paid, `skip` never does. */
const RESUME_IT = '`resume` it with missedPeriods (`billAll` or `skip`) and another commandId';

/** A bill that was given up before the reset stops it again, and it may have been resumed since. */
export function pauseForBill(flow: Billing, period: number): void {
  doubtBill(flow, period, 'stayed unpaid before a reset, and nobody knows whether it was resumed since');
}

/** A card that has come since may have come when it was given up. */
export function pauseForNewTry(flow: Billing, open: OpenPeriod): void {
  doubtBill(flow, open.period, `${doubtOfTry(open)}: nobody knows whether it had been given up by then`);
  // A person looks now: what is declined after that is known.
  delete open.forgotten;
}

function doubtOfTry({ attempts, forgotten }: OpenPeriod): string {
  if (forgotten === true) return 'was tried before a reset, and Temporal has forgotten its first payments';
  return attempts === 0
    ? 'waited for another card before a reset, and one was given since'
    : 'was tried before a reset, and another card was given since';
}

function doubtBill(flow: Billing, period: number, what: string): void {
  const why = `period ${period} ${what}: look at its payments, and ${RESUME_IT}`;
  pauseInDoubt(flow, why, `period ${period}`, { period });
}

/** The same `changeCard` may be given again: it was not done. Of several the last one is to hold. */
export function pauseForCard(flow: Billing, commandId: string, { cause, message }: ActivityFailure): Refusal {
  const why = `after a reset the card of changeCard ${commandId} could not be looked up (${cause?.message ?? message}): give it again, and then ${RESUME_IT}`;
  noteCardChange(flow, why);
  pauseInDoubt(flow, why, `changeCard ${commandId}`);
  if (flow.paused?.doubt !== undefined) flow.paused.doubt.card = why;
  return { refusal: `it is paused: ${why}`, type: FAILURE_TYPES.providerUnavailable };
}

/** Another card was given after one that could not be looked up, which must not replace it. */
export function noteCardChange(
  { paused }: Billing,
  why = `its card was given again or changed, so ${RESUME_IT}`,
): void {
  const doubt = paused?.doubt;
  if (doubt?.card === undefined) return;
  doubt.why = doubt.why.replace(doubt.card, () => why);
  delete doubt.card;
}

/**
 * It is paused, or stays so, until a person says how it goes on. The merchant is told even so: the last news before the
 * reset may be that it was resumed.
 */
function pauseInDoubt(flow: Billing, reason: string, about: string, data: { period?: number } = {}): void {
  const since = Date.now();
  // A pause with an end would bill again by itself.
  const { until: _until, doubt, ...before } = flow.paused ?? { since };
  const why =
    doubt === undefined || doubt.why.includes(reason) ? (doubt?.why ?? reason) : `${doubt.why}; and ${reason}`;
  flow.paused = { ...before, doubt: { ...doubt, since, why } };
  tellOf(flow, 'subscription.paused', `${about}, reset, ${new Date(since).toISOString()}`, data);
}

/** Why a `resume` does not end a pause in doubt; undefined if it does. */
export function doubtStands({ paused }: Billing, { at = 0, request }: SubscriptionCommand): Refusal | undefined {
  const doubt = paused?.doubt;
  if (doubt === undefined) return undefined;
  // Given again by the reset, or before the doubt: nobody has decided about that yet.
  if (at <= doubt.since) return { refusal: `it is paused in a doubt that came later: ${doubt.why}` };
  const isSaid = 'missedPeriods' in request && request.missedPeriods !== undefined;
  return isSaid ? undefined : { refusal: `it is paused in doubt, so give missedPeriods: ${doubt.why}` };
}
