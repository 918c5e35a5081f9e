import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowStatus } from '../../../src/contract/messages.js';
import { HoldfastError } from '../../../src/client/index.js';
import type { LedgerEntry } from '../../../src/sandbox/control-api/ledger.js';
import type { Simulation } from '../simulation.js';
import type { Counts } from './counts.js';

const HOUR_MS = 3_600_000;

/** Looks after flows that say that they need somebody, with the books of the service at hand. */
export class Operator {
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
      const entry = entryOf(status, await world.control.ledger());
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
          ...(known === 'declined' && { category: 'payment_method_declined' }),
        },
      );
    } catch (error) {
      // It has ended, goes on by itself, or can't be asked: the next round tells.
      if (!(error instanceof HoldfastError)) throw error;
      this.counts.add('operator refused', error.type);
    }
  }

  #isPaying({ reference, subscription }: FlowStatus): boolean {
    if (subscription === undefined) return false;
    return [...this.simulation.engine.all()].some(
      ({ isOpen, start }) => isOpen && start.workflowId.startsWith(`payment-${reference}.`),
    );
  }
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
