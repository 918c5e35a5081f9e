import { setTimeout as sleep } from 'node:timers/promises';
import { BootError, type SupervisedProcess } from '../stack/supervised-process.js';
import { VICTIMS, type KillPlan, type Victim } from './plan.js';

const LOOK_EVERY_MS = 25;
const TRY_AGAIN_MS = 500;
/** A process that is not up again after this long is considered failed. */
const START_LIMIT_MS = 60_000;

/** A process that can be killed at any moment and restarted. */
export interface KillTarget {
  process: SupervisedProcess;
  /** Called before each kill, while the process still runs. Never rejects. */
  beforeKill?: () => Promise<void>;
  /** Resolves when the process serves again. */
  serves?: () => Promise<void>;
}

export type KillCounts = Readonly<Record<Victim, number>>;

/**
 * Kills processes by the plan, each independently of the others, so several may be down at once. When `run` resolves,
 * all of them serve again.
 */
export class Killer {
  readonly #targets: Readonly<Record<Victim, KillTarget>>;
  readonly #counts: Record<Victim, number> = { worker: 0, temporal: 0, webhook: 0 };

  constructor(targets: Readonly<Record<Victim, KillTarget>>) {
    this.#targets = targets;
  }

  get counts(): KillCounts {
    return { ...this.#counts };
  }

  /**
   * @param progress share of the run that is over
   * @param signal stops further kills; a killed process is still restarted
   */
  async run(plan: KillPlan, progress: () => number, signal: AbortSignal): Promise<void> {
    await Promise.all(VICTIMS.map((victim) => this.#runOne(victim, plan[victim], progress, signal)));
  }

  async #runOne(victim: Victim, kills: KillPlan[Victim], progress: () => number, signal: AbortSignal): Promise<void> {
    const target = this.#targets[victim];
    for (const { at, downMs } of kills) {
      while (progress() < at && !signal.aborted) await sleep(LOOK_EVERY_MS);
      if (signal.aborted) return;
      await target.beforeKill?.();
      await target.process.kill();
      this.#counts[victim] += 1;
      await sleep(downMs);
      await startAgain(target);
    }
  }
}

/** Retries for a minute, because a process may fail to start while another is down. @throws BootError */
async function startAgain({ process, serves }: KillTarget): Promise<void> {
  const limit = Date.now() + START_LIMIT_MS;
  for (;;) {
    try {
      await process.start();
      await serves?.();
      return;
    } catch (error) {
      if (!(error instanceof BootError) || Date.now() > limit) throw error;
      await sleep(TRY_AGAIN_MS);
    }
  }
}
