import type { CreateChargeCall } from '../../src/contract/activity-calls.js';
import type { ParsedChargeInput, FinalChargeOutcome } from '../../src/contract/charge.js';
import { durationMs } from '../../src/contract/fields.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { type BuyerInput, givesConsent } from '../../src/contract/payment-input.js';
import type { PaymentRecord, TransactionRecord } from '../../src/contract/records.js';
import { postUntil } from '../../src/domain/schedules.js';
import { resumable } from '../flow/continue.js';
import { takeOut, waitingVoid } from '../flow/inbox.js';
import { settledOutcome } from '../flow/outcomes.js';
import { decidesAfterReset, inResetRun } from '../kit/start-guard.js';
import type { FlowState, PendingVoids, RefusableName, Refusal } from '../flow/state.js';
import { refusesOfHold } from './hold-refusals.js';
import { type MoneyStep, moneyStep, executeFirst } from './money-step.js';
import { isOfPendingDeadline } from './pending-deadline.js';
import { endOfVoids, listVoids, noPendingVoids, pendingVoids, refusesVoid } from './void-pending.js';

/**
 * ms. A task heartbeat must not fall between the two local calls, so the second is local only if the first was this
 * quick.
 */
const QUICK_MS = 3_000;

/** The one charge of a flow as a step: how it is sent and how reads find it. */
export function chargeStep(flow: FlowState, input: ParsedChargeInput, payment: PaymentRecord): MoneyStep {
  return moneyStep(flow, {
    paymentId: payment.paymentId,
    operation: 'createCharge',
    sequence: 1,
    reconciliationId: flow.reference,
    postUntil: firstPostUntil(flow, input),
    ...startPath(flow, payment, 1),
    post: (activities, call) =>
      activities.createCharge({ ...call, reconciliationId: flow.reference, charge: fromBuyer(input) }),
  });
}

/**
 * The window counts from the flow's start, which survives crash and reset (money rule 4). After a risk analysis it
 * counts from that analysis's recorded end, because a review may take longer than a key lives. A CVV's window always
 * counts from the flow's start.
 */
export function firstPostUntil(flow: FlowState, { paymentMethod }: Pick<BuyerInput, 'paymentMethod'>): number {
  const until = postUntil(flow.stepStartedAt, false);
  return paymentMethod.encryptedCvv === undefined ? until : Math.min(until, postUntil(flow.startedAt, true));
}

/** Whether the operation is tried inside the first task: never after a risk analysis or a hold (money rule 7). */
function startPath(flow: FlowState, payment: PaymentRecord, sequence: number) {
  const isFirst = flow.localFirst && flow.risk === undefined && sequence === 1;
  return {
    tryLocally: isFirst && payment.localMs !== undefined && payment.localMs < QUICK_MS,
    lostTaskMayHaveSent: isFirst && flow.startedByClient,
  };
}

/** The buyer and card fields of a charge or an authorization. */
function fromBuyer(input: BuyerInput): CreateChargeCall['charge'] {
  const { paymentMethod, clientIpAddress, cardOnFile, threeDSecureAttributes, merchantSiteUrl } = input;
  return {
    paymentMethod,
    ...(clientIpAddress !== undefined && { clientIpAddress }),
    ...(cardOnFile !== undefined && { cardOnFile }),
    ...(threeDSecureAttributes !== undefined && { threeDSecureAttributes }),
    ...(merchantSiteUrl !== undefined && { merchantSiteUrl }),
  };
}

type Redirected = Pick<BuyerInput, 'cardOnFile' | 'redirectTimeLimit'> & {
  pendingDeadline?: string | number | undefined;
};

/** What its buyer's input says about the flow. */
export function buyerTraits(input: Redirected) {
  const { redirectTimeLimit, pendingDeadline } = input;
  const pendingLimitMs = pendingDeadline === undefined ? undefined : durationMs(pendingDeadline);
  const redirectLimitMs = redirectTimeLimit === undefined ? undefined : durationMs(redirectTimeLimit);
  return {
    consents: givesConsent(input),
    ...(redirectLimitMs !== undefined && { redirectLimitMs }),
    ...(pendingLimitMs !== undefined && { pendingLimitMs }),
  };
}

/** Also of a consent by authorization. */
export function authorizeTraits(input: Redirected) {
  return { ...buyerTraits(input), refuses: refusesOfHold, keepsVoid: true };
}

/** The authorization of a flow. Sequences above 1 are reauthorizations of a hold that is proven gone. */
export function authorizeStep(flow: FlowState, input: BuyerInput, payment: PaymentRecord, sequence = 1): MoneyStep {
  return moneyStep(flow, {
    paymentId: payment.paymentId,
    operation: 'authorize',
    sequence,
    reconciliationId: flow.reference,
    postUntil: firstPostUntil(flow, input),
    ...startPath(flow, payment, sequence),
    unwanted: () => flow.keepsVoid && (waitingVoid(flow) !== undefined || flow.isCancelled()),
    post: (activities, call) =>
      activities.createAuthorization({
        ...call,
        reconciliationId: flow.reference,
        authorization: fromBuyer(input),
        // No workflow command depends on it, so replays don't diverge. No history shows the first tries of the first one.
        ...(sequence > 1 && inResetRun() && { unlessCancelled: true as const }),
      }),
  });
}

/** For a charge or credit: it accepts a `void` while it is pending, and nothing else. */
export function refusesAllButVoid(flow: FlowState, name: RefusableName): Refusal | undefined {
  const { status, type } = flow;
  if (name !== 'void') return { refusal: `a ${type} that is ${status} takes no ${name}` };
  // After a reset Temporal delivers the commands of the earlier run again at once: they wait for their turn.
  const why = inResetRun() ? undefined : refusesVoid(flow);
  return why === undefined ? undefined : { refusal: why };
}

/**
 * Executes the one operation of a charge or credit, which may be voided while it is pending. The flow ends `voided` if
 * the void has succeeded and the operation has failed. If both have succeeded, the operation's success counts.
 * @param readOnlyReason why nothing may be sent
 */
export async function executeVoidable(
  flow: FlowState,
  step: MoneyStep,
  readOnlyReason?: string,
): Promise<FinalChargeOutcome> {
  const begin = (): { so: PendingVoids } => ({ so: noPendingVoids() });
  return await resumable(flow, 'voidable', begin, async ({ so }) =>
    endOfVoidable(flow, so, await executeFirst(flow, { ...step, voids: pendingVoids(flow, so) }, readOnlyReason)),
  );
}

async function endOfVoidable(
  flow: FlowState,
  voids: PendingVoids,
  ended: FinalStepOutcome,
): Promise<FinalChargeOutcome> {
  await recall(flow, voids);
  const end = endOfVoids(flow, voids, ended);
  const actions = flow.actions.length > 0 ? { actions: [...flow.actions] } : {};
  if (end === undefined || 'despiteVoid' in end) return { ...ended, ...end, ...actions };
  const { transactionId, evidence } = end.outcome;
  const { reference, amount, currency, paymentId, risk } = ended;
  return {
    status: 'voided',
    reason: voids.sent.some(byDeadline) ? 'pendingDeadline' : 'command',
    reference,
    amount,
    currency,
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
    ...(risk !== undefined && { risk }),
    voided: end.voided,
    evidence,
    ...actions,
  };
}

function byDeadline({ command, outcome }: PendingVoids['sent'][number]): boolean {
  return outcome.status === 'succeeded' && isOfPendingDeadline(command);
}

/** Finds a void that the run before a reset has sent, if the voided operation ended before this run could follow it. */
async function recall(flow: FlowState, voids: PendingVoids): Promise<void> {
  const command = waitingVoid(flow);
  if (command === undefined || voids.sent.length > 0 || !decidesAfterReset()) return;
  const listed = await listVoids(flow);
  const done = listed?.find((record) => record.status === 'Succeed' && isOurs(flow, record, listed));
  if (done === undefined) return;
  takeOut(flow, command);
  const outcome = settledOutcome(flow, { record: done, knownBy: 'poll', confirmed: true });
  voids.sent.push({ command, sequence: 1, outcome });
}

/**
 * Others may void the same payment. If the service echoes no key, the void is ours only if it is the only one listed.
 */
function isOurs({ workflowId }: FlowState, { holdfastKey }: TransactionRecord, listed: TransactionRecord[]): boolean {
  return holdfastKey === undefined
    ? listed.length === 1
    : holdfastKey.startsWith(idempotencyKey(workflowId, 'void', ''));
}
