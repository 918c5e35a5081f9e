import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxControl } from '../../../sandbox/control.js';
import { HoldfastError, type HoldfastClient } from '../../../src/client/index.js';
import type { FlowStatus } from '../../../src/contract/messages.js';
import type { LedgerEntry } from '../../audit/ledger.js';
import { headersOf, offersNoReads, type ProfileUnit } from '../../stack/profile-units.js';
import type { DriverContext } from './driver-context.js';

interface OperatorParts {
  holdfast: HoldfastClient;
  sandbox: SandboxControl;
  /** Whether the service of a business unit offers only the reads that its interface names. */
  isWithoutReads: (businessUnit: string) => boolean;
  /** Whether a payment of the subscription with this reference is still open. */
  isPaying: (reference: string) => boolean | Promise<boolean>;
  /** Voids a payment's hold in the service's back office. */
  releaseHold: (paymentId: string, businessUnit: string) => Promise<void>;
  /** Called with each decision, and with each that a flow refuses. */
  note: (kind: 'operator' | 'operator refused', what: string) => void;
}

/** Decides for flows that need an operator, by the service's ledger. */
export class Operator {
  readonly #askedForVoid = new Set<string>();

  constructor(private readonly parts: OperatorParts) {}

  /** Settles a flow by the service's ledger, even if the flow has not asked for an operator. */
  async settle(workflowId: string): Promise<void> {
    const { holdfast, sandbox } = this.parts;
    try {
      if (workflowId.startsWith('parked-event-')) return;
      const status = await holdfast.status({ workflowId });
      // Somebody else decides about what is above a limit: nothing of it was sent.
      if (status.approval !== undefined) return;
      if (status.subscription !== undefined && status.status === 'paused') return await this.#resume(status);
      const isWithoutReads = this.parts.isWithoutReads(status.businessUnit);
      const ledger = await sandbox.ledger();
      const entry = isWithoutReads ? atTheConsole(status, ledger) : entryOf(status, ledger);
      if (entry === 'nobody can tell') return;
      if (entry === undefined && isWithoutReads && (await this.#releaseByHand(status, ledger))) return;
      // Wait while the transaction is pending, or while a payment of the subscription is still open after a reset.
      if (entry?.status === 'Pending' || (await this.#isPaying(status))) return;
      const known = endOf(entry);
      this.parts.note('operator', known);
      await holdfast.settleManually(
        { workflowId },
        {
          who: 'olga@operations',
          why: 'found in the ledger of the service',
          commandId: `settle-${Date.now()}`,
          status: known,
          ...(entry !== undefined && { transactionId: entry.transaction_id }),
          ...(entry !== undefined && status.operatorReason?.includes(CAPTURES_SOUGHT) && { amount: entry.amount }),
          ...(known === 'declined' && { category: 'payment_method_declined' }),
        },
      );
    } catch (error) {
      // The flow has ended, continues by itself, or can't be reached. The next round finds out.
      if (!(error instanceof HoldfastError)) throw error;
      this.parts.note('operator refused', error.type);
    }
  }

  /** Ends a flow whose failure the ledger has too: it waits for an hour where an attempt had no answer, and no run does. */
  async endDoubt(workflowId: string): Promise<void> {
    const { holdfast, sandbox } = this.parts;
    try {
      const status = await holdfast.status({ workflowId });
      if (status.status !== 'unknown' || status.waitingFor !== 'settlement') return;
      const ledger = await sandbox.ledger();
      const followed = ledger.find((one) => one.transaction_id === status.transactionId);
      if (followed?.status === 'Failed') await this.settle(workflowId);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      this.parts.note('operator refused', error.type);
    }
  }

  /** A reset has given it commands again. Each of these subscriptions bills all that has come due in a pause. */
  async #resume({ reference }: FlowStatus): Promise<void> {
    this.parts.note('operator', 'resumed after a reset');
    await this.parts.holdfast.subscription.resume(reference, {
      who: 'olga@operations',
      why: 'what it has billed is in the ledger of the service',
      commandId: `resume-${Date.now()}`,
      missedPeriods: 'billAll',
    });
  }

  /** Where no analysis can be read, nobody but its event tells how the risk provider has decided about this payment. */
  async sendLostDecisionsAgain(reference: string): Promise<void> {
    const { sandbox, note } = this.parts;
    const lost = { reconciliationId: reference, eventType: 'payment.risk-analysis.update', status: 'lost' };
    for (const { id } of await sandbox.deliveries(lost)) {
      note('operator', 'had a lost decision sent again');
      await sandbox.resend(id);
    }
  }

  /**
   * If a flow asks a second time about a void that the ledger doesn't have, the operator releases the hold by hand: a
   * run made by a reset can't send that void. The next call of `settle` finds it.
   */
  async #releaseByHand(
    { paymentId, operation, businessUnit }: FlowStatus,
    ledger: readonly LedgerEntry[],
  ): Promise<boolean> {
    if (operation !== 'void' || paymentId === undefined) return false;
    const ofPayment = ledger.filter((one) => one.payment_id === paymentId && one.status !== 'Failed');
    if (!ofPayment.some(({ kind }) => kind === 'authorization') || ofPayment.length > 1) return false;
    const asked = this.#askedForVoid.has(paymentId);
    this.#askedForVoid.add(paymentId);
    if (!asked) return false;
    this.parts.note('operator', 'released by hand');
    await this.parts.releaseHold(paymentId, businessUnit);
    return true;
  }

  async #isPaying({ reference, subscription }: FlowStatus): Promise<boolean> {
    return subscription !== undefined && (await this.parts.isPaying(reference));
  }
}

const NAMED_REFERENCE = /reconciliation id "([^"]+)"/;
const NAMED_TRANSACTION = /an event names transaction (\S+),/;
const CAPTURES_SOUGHT = 'look in its back office for captures of payment';

/**
 * The transaction that an operator finds under the payment by all that the flow names. Nothing can correct a mistake of
 * the operator, so the result is 'nobody can tell' if several transactions match.
 */
function atTheConsole(status: FlowStatus, ledger: readonly LedgerEntry[]): LedgerEntry | undefined | 'nobody can tell' {
  const { paymentId, transactionId, operation, operatorReason, subscription } = status;
  if (subscription !== undefined) return entryOf(status, ledger);
  const named = NAMED_TRANSACTION.exec(operatorReason ?? '')?.[1];
  if (named !== undefined) return ledger.find((one) => one.transaction_id === named) ?? 'nobody can tell';
  if (operatorReason?.includes(CAPTURES_SOUGHT) === true)
    return ledger.find((one) => one.payment_id === paymentId && one.kind === 'capture' && one.status === 'Succeed');
  const candidates = ledger.filter(({ payment_id: id, kind }) => id === paymentId && kind === operation);
  const followed = candidates.find((one) => one.transaction_id === transactionId);
  if (followed !== undefined) return followed;
  if (operation !== 'capture' && operation !== 'refund') return candidates.at(-1);
  const reference = NAMED_REFERENCE.exec(operatorReason ?? '')?.[1];
  if (reference === undefined) return candidates.length === 0 ? undefined : 'nobody can tell';
  return candidates.find(({ reconciliation_id: id }) => id === reference);
}

function endOf(entry: LedgerEntry | undefined): 'succeeded' | 'declined' | 'notExecuted' {
  if (entry === undefined) return 'notExecuted';
  return entry.status === 'Succeed' ? 'succeeded' : 'declined';
}

/** The flow's last transaction, by its idempotency key, because some services keep neither references nor lists. */
function entryOf(
  { workflowId, reference, transactionId, subscription }: FlowStatus,
  ledger: readonly LedgerEntry[],
): LedgerEntry | undefined {
  const period = subscription?.open?.period;
  const flow = subscription === undefined ? workflowId : `payment-${reference}.${period}.`;
  return (
    ledger.find((one) => one.transaction_id === transactionId) ??
    ledger.findLast(({ idempotency_key: key }) => key?.startsWith(flow))
  );
}

/**
 * An operator at the service's console, for real processes.
 * @param units all units that flows are sent to
 */
export function realOperator(
  { holdfast, temporal, sandbox, sandboxUrl }: Pick<DriverContext, 'holdfast' | 'temporal' | 'sandbox' | 'sandboxUrl'>,
  units: readonly ProfileUnit[],
): Operator {
  const known = new Map(units.map((unit) => [unit.name, unit]));
  return new Operator({
    holdfast,
    sandbox,
    isWithoutReads(businessUnit) {
      const unit = known.get(businessUnit);
      return unit !== undefined && offersNoReads(unit);
    },
    async isPaying(reference) {
      const query = `WorkflowId STARTS_WITH "payment-${reference}." AND ExecutionStatus = "Running"`;
      for await (const _open of temporal.workflow.list({ query })) return true;
      return false;
    },
    async releaseHold(paymentId, businessUnit) {
      const unit = known.get(businessUnit);
      if (unit === undefined) return;
      // The next call of `settle` finds out whether it succeeded.
      await voidInBackOffice({ sandboxUrl, unit }, paymentId, `back-office-${paymentId}`).catch(() => undefined);
    },
    note: () => undefined,
  });
}

const TRY_AGAIN_MS = 250;

/**
 * Whether the service has this card on file for the customer of this reference, read as another program of the merchant
 * would. Faults hit these reads too, so they are retried until they succeed.
 */
export async function isOnFile(
  sandboxUrl: string,
  unit: ProfileUnit,
  customerReference: string,
  token: string,
): Promise<boolean> {
  const headers = headersOf(unit);
  const read = async (path: string): Promise<unknown> => {
    for (;;) {
      try {
        const answer = await fetch(new URL(path, sandboxUrl), { headers });
        if (answer.status === 404) return undefined;
        if (answer.ok) return await answer.json();
      } catch {
        // The reply was lost or is garbage.
      }
      await sleep(TRY_AGAIN_MS);
    }
  };
  const found = await read(`/customers?customer_reference=${encodeURIComponent(customerReference)}`);
  // Not every service has a read of one card.
  const [customer] = Array.isArray(found) ? (found as { payment_methods?: { token: string }[] }[]) : [];
  return customer?.payment_methods?.some((card) => card.token === token) === true;
}

/** Voids a payment in the service's back office, without a flow. The request may be lost. */
export async function voidInBackOffice(
  { sandboxUrl, unit }: { sandboxUrl: string; unit: ProfileUnit },
  paymentId: string,
  key: string,
): Promise<Response> {
  const headers = { ...headersOf(unit), 'idempotency-key': key };
  return await fetch(new URL(`/payments/${paymentId}/voids`, sandboxUrl), { method: 'POST', headers, body: '{}' });
}
