import { setTimeout as sleep } from 'node:timers/promises';
import { Operator } from '../../../tools/chaos/driver/operator.js';
import { WORKFLOW_TYPES } from '../../../src/contract/names.js';
import type { Run } from '../engine/run.js';
import type { Simulation } from '../simulation.js';
import type { Counts } from './counts.js';
import { WITHOUT_READS } from './units.js';

const HOUR_MS = 3_600_000;

/** Looks after flows that say that they need somebody. */
export class SimulatedOperator extends Operator {
  constructor(
    private readonly simulation: Simulation,
    counts: Counts,
  ) {
    const { holdfast, world, engine } = simulation;
    super({
      holdfast,
      sandbox: world.control,
      isWithoutReads: (businessUnit) => WITHOUT_READS.some(({ name }) => businessUnit.startsWith(name)),
      isPaying: (reference) =>
        [...engine.all()].some(({ isOpen, start }) => isOpen && start.workflowId.startsWith(`payment-${reference}.`)),
      releaseHold: async (paymentId, businessUnit) => {
        const provider = world.providerFor(businessUnit);
        // It may be lost on the way: the next look tells.
        await provider.createVoid(paymentId, {}, { idempotencyKey: `back-office-${paymentId}` }).catch(() => undefined);
      },
      note: (kind, what) => counts.add(kind, what),
    });
  }

  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.round();
      for (let quarter = 0; quarter < 12 && !isOver(); quarter += 1) await sleep(HOUR_MS / 2);
    }
  }

  /**
   * Every open flow that says so is looked at once. What was decided about a hold and got lost is told again, since its
   * capture is to succeed; a charge's review may end by its time limit.
   */
  async round(): Promise<number> {
    const { engine } = this.simulation;
    const waiting = [...engine.all()].filter((run) => run.isOpen && isMarked(run.searchAttributes['NeedsOperator']));
    for (const { start } of waiting) await this.settle(start.workflowId);
    for (const { start } of [...engine.all()].filter(isHoldWithoutReads))
      await this.sendLostDecisionsAgain(start.workflowId.replace(/^payment-/, ''));
    return waiting.length;
  }
}

function isHoldWithoutReads({ isOpen, start: { type, workflowId } }: Run): boolean {
  return (
    isOpen && type === WORKFLOW_TYPES.authorizeAndCapture && WITHOUT_READS.some(({ name }) => workflowId.includes(name))
  );
}

function isMarked(payload: { data?: Uint8Array | null } | undefined): boolean {
  return Buffer.from(payload?.data ?? []).toString() === 'true';
}
