import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { SIGNAL_NAMES, WORKFLOW_TYPES } from '../../../src/contract/names.js';
import type { Run } from '../engine/run.js';
import type { Simulation } from '../simulation.js';
import type { Seeded } from '../world/seeded.js';
import type { Counts } from './counts.js';
import type { FaultSchedule } from './fault-schedule.js';

const HOUR_MS = 3_600_000;
const LONGEST_PAUSE_MS = 24 * HOUR_MS;

/** Builds that come, ramp up, are rolled back and drained, while subscriptions are billed. */
export class Deploys {
  readonly #random: Seeded;
  readonly #drawn = new Map<string, number>();
  #built = 1;
  #current = 1;
  #ramp = { build: 1, share: 0 };

  constructor(
    random: Seeded,
    private readonly counts: Counts,
  ) {
    this.#random = random.fork('deploys');
  }

  /** The build that gets the new work of a flow; in a ramp always the same part of the flows goes over, as on a server. */
  targetOf({ start: { workflowId } }: Run): string {
    const drawn = this.#drawn.get(workflowId) ?? this.#random.fork(workflowId).next();
    this.#drawn.set(workflowId, drawn);
    return `v${drawn < this.#ramp.share ? this.#ramp.build : this.#current}`;
  }

  /** Goes on until the schedule is over. */
  async work(simulation: Simulation, schedule: FaultSchedule): Promise<void> {
    const client = simulation.newClient();
    for (let pause = HOUR_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
      await sleep(Math.round(pause * 2 * this.#random.next()));
      if (schedule.isOver) return;
      this.#deploy();
      const open = [...simulation.engine.all()].filter(
        ({ isOpen, start }) => isOpen && start.type === WORKFLOW_TYPES.subscription,
      );
      for (const { start } of open) {
        if (this.#random.chance(0.5)) continue;
        await client.workflow
          .getHandle(start.workflowId)
          .signal(SIGNAL_NAMES.moveOn)
          .catch((error: unknown) => {
            // It has ended meanwhile, or the engine is away.
            if (!(error instanceof ServiceError || error instanceof WorkflowNotFoundError)) throw error;
          });
      }
    }
  }

  #deploy(): void {
    const what = this.#random.pick(['ramp', 'roll back', 'make current'] as const);
    this.counts.add('deploy', what);
    if (what === 'ramp') this.#ramp = { build: (this.#built += 1), share: this.#random.next() };
    else {
      if (what === 'make current') this.#current = this.#ramp.build;
      this.#ramp = { build: this.#current, share: 0 };
    }
  }
}
