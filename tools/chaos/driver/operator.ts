import { HoldfastError, type HoldfastClient } from '../../../src/client/index.js';
import type { FlowStatus } from '../../../src/contract/messages.js';
import type { LedgerEntry } from '../../audit/ledger.js';
import type { SandboxControl } from '../../../sandbox/control.js';
import { offersNoReads, type ProfileUnit } from '../../stack/profile-units.js';
import { voidInBackOffice } from './back-office.js';
import type { DriverContext } from './driver-context.js';

export interface OperatorParts {
  holdfast: HoldfastClient;
  sandbox: SandboxControl;
  /** Whether the service of a business unit offers only the reads that its interface names. */
  isWithoutReads: (businessUnit: string) => boolean;
  /** Whether a payment of the subscription with this reference goes on. */
  isPaying: (reference: string) => boolean | Promise<boolean>;
  /** Voids what a payment holds in the service's own back office. */
  releaseHold: (paymentId: string, businessUnit: string) => Promise<void>;
  /** Told of each decision, and of each that a flow refuses. */
  note: (kind: 'operator' | 'operator refused', what: string) => void;
}

/** Decides for flows that need somebody, with the ledger of the service at hand. */
export class Operator {
  readonly #askedForVoid = new Set<string>();

  constructor(private readonly parts: OperatorParts) {}

  /** Decides about a flow by the ledger of the service, whether it has asked for that or not. */
  async settle(workflowId: string): Promise<void> {
    const { holdfast, sandbox } = this.parts;
    try {
      if (workflowId.startsWith('parked-event-')) return;
      const status = await holdfast.status({ workflowId });
      const isWithoutReads = this.parts.isWithoutReads(status.businessUnit);
      const ledger = await sandbox.ledger();
      const entry = isWithoutReads ? atTheConsole(status, ledger) : entryOf(status, ledger);
      if (entry === 'nobody can tell') return;
      if (entry === undefined && isWithoutReads && (await this.#releaseByHand(status, ledger))) return;
      // Who looks while it pends, or while a payment of the subscription goes on after a reset, waits for its end.
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
      // It has ended, goes on by itself, or can't be asked: the next round tells.
      if (!(error instanceof HoldfastError)) throw error;
      this.parts.note('operator refused', error.type);
    }
  }

  /**
   * Whoever is asked a second time about a void of the same payment that is not there, lets go of the hold by hand: a run
   * made by a reset can't. The next look finds that void.
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
    this.parts.note('operator', 'let go by hand');
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
 * What a person finds who looks for the operation in question under the payment, by all that the flow names. Nothing else
 * can correct a mistake there. A person who is told too little to know which of several is meant says nothing.
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

/** The last transaction that the flow asked for, by its key: some services keep neither references nor lists. */
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
 * A person at the console of the service, beside real processes.
 * @param units all that flows are sent to
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
      // The next look tells what has become of it.
      await voidInBackOffice({ sandboxUrl, unit }, paymentId, `back-office-${paymentId}`).catch(() => undefined);
    },
    note: () => undefined,
  });
}
