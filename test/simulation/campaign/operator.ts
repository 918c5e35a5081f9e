import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowStatus } from '../../../src/contract/messages.js';
import { HoldfastError } from '../../../src/client/index.js';
import type { LedgerEntry } from '../../../src/sandbox/control-api/ledger.js';
import type { Simulation } from '../simulation.js';
import type { Counts } from './counts.js';
import { WITHOUT_READS } from './units.js';

const HOUR_MS = 3_600_000;

/** Looks after flows that say that they need somebody, with the books of the service at hand. */
export class Operator {
  readonly #askedForVoid = new Set<string>();

  constructor(
    private readonly simulation: Simulation,
    private readonly counts: Counts,
  ) {}

  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.round();
      for (let quarter = 0; quarter < 12 && !isOver(); quarter += 1) await sleep(HOUR_MS / 2);
    }
  }

  /** Every open flow that says so is looked at once. */
  async round(): Promise<number> {
    const { engine } = this.simulation;
    const waiting = [...engine.all()].filter((run) => run.isOpen && isMarked(run.searchAttributes['NeedsOperator']));
    for (const { start } of waiting) await this.settle(start.workflowId);
    return waiting.length;
  }

  /** Decides about a flow by the books of the service, whether it has asked for that or not. */
  async settle(workflowId: string): Promise<void> {
    const { holdfast, world } = this.simulation;
    try {
      if (workflowId.startsWith('parked-event-')) return;
      const status = await holdfast.status({ workflowId });
      const ledger = await world.control.ledger();
      const entry = this.#isWithoutReads(status) ? atTheConsole(status, ledger) : entryOf(status, ledger);
      if (entry === 'nobody can tell') return;
      if (entry === undefined && this.#isWithoutReads(status) && (await this.#letsGo(status, ledger))) return;
      // Who looks while it pends, or while a payment of the subscription goes on after a reset, waits for its end.
      if (entry?.status === 'Pending' || this.#isPaying(status)) return;
      const known = endOf(entry);
      this.counts.add('operator', known);
      await holdfast.settleManually(
        { workflowId },
        {
          who: 'olga@operations',
          why: 'found in the books of the service',
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
      this.counts.add('operator refused', error.type);
    }
  }

  /**
   * Whoever is asked a second time about a void of the same payment that is not there, lets go of the hold by hand: a run
   * made by a reset can't. The next look finds that void.
   */
  async #letsGo({ paymentId, operation, businessUnit }: FlowStatus, ledger: readonly LedgerEntry[]): Promise<boolean> {
    if (operation !== 'void' || paymentId === undefined) return false;
    const ofPayment = ledger.filter((one) => one.payment_id === paymentId && one.status !== 'Failed');
    if (!ofPayment.some(({ kind }) => kind === 'authorization') || ofPayment.length > 1) return false;
    const asked = this.#askedForVoid.has(paymentId);
    this.#askedForVoid.add(paymentId);
    if (!asked) return false;
    this.counts.add('operator', 'let go by hand');
    const provider = this.simulation.world.providerFor(businessUnit);
    // It may be lost on the way: the next look tells.
    await provider.createVoid(paymentId, {}, { idempotencyKey: `back-office-${paymentId}` }).catch(() => undefined);
    return true;
  }

  #isWithoutReads({ businessUnit }: FlowStatus): boolean {
    return WITHOUT_READS.some(({ name }) => businessUnit.startsWith(name));
  }

  #isPaying({ reference, subscription }: FlowStatus): boolean {
    if (subscription === undefined) return false;
    return [...this.simulation.engine.all()].some(
      ({ isOpen, start }) => isOpen && start.workflowId.startsWith(`payment-${reference}.`),
    );
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

function isMarked(payload: { data?: Uint8Array | null } | undefined): boolean {
  return Buffer.from(payload?.data ?? []).toString() === 'true';
}
