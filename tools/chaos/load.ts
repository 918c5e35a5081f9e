import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxControl } from '../../sandbox/control.js';
import type { ChaosArguments } from './arguments.js';
import type { Campaign } from './campaign.js';
import type { Killer } from './kills.js';
import { faultsOf, planKills } from './plan.js';

/** Temporal gives a dead worker's tasks to another worker after 10 s, and then a call may fail a few times. */
const REACH_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 200;

export interface LoadParts {
  campaign: Campaign;
  sandbox: SandboxControl;
  killer: Killer;
  /** Ends the load early. */
  signal: AbortSignal;
}

/** Concurrent callers that start flows while the service fails and processes are killed. */
export class Load {
  readonly #parts: LoadParts;
  readonly #args: ChaosArguments;
  #begun = 0;
  #begunAt = 0;

  constructor(parts: LoadParts, args: ChaosArguments) {
    this.#parts = parts;
    this.#args = args;
  }

  get begun(): number {
    return this.#begun;
  }

  /** Resolves when every caller is done and every process serves again. The faults are still planted then. */
  async run(): Promise<void> {
    const { sandbox, killer, signal } = this.#parts;
    for (const { fault } of faultsOf(this.#args.flows)) await sandbox.addFault(fault);
    this.#begunAt = Date.now();
    const failed = new AbortController();
    const until = AbortSignal.any([signal, failed.signal]);
    const callers = Array.from({ length: this.#args.concurrency }, () => this.#call(until));
    const work = [...callers, killer.run(planKills(this.#args), () => this.#progress(), until)];
    try {
      await Promise.all(work);
    } catch (error) {
      // No process may be restarted while the stack is being stopped.
      failed.abort();
      await Promise.allSettled(work);
      throw error;
    }
    await this.#untilAllReachTheService();
  }

  /**
   * Callers may be done while no worker ran. Their requests must reach the service before the faults end; otherwise
   * hardly any flow would meet a fault on a busy machine.
   */
  async #untilAllReachTheService(): Promise<void> {
    const { sandbox, signal } = this.#parts;
    const limit = Date.now() + REACH_LIMIT_MS;
    while (!signal.aborted && Date.now() < limit) {
      if ((await sandbox.health()).payments >= this.#begun) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Share of the run that is over, from 0. */
  #progress(): number {
    const { until } = this.#args;
    return 'ms' in until ? (Date.now() - this.#begunAt) / until.ms : this.#begun / until.count;
  }

  async #call(until: AbortSignal): Promise<void> {
    while (this.#progress() < 1 && !until.aborted) {
      this.#begun += 1;
      await this.#parts.campaign.startFlow(this.#begun, until);
      // Yields, so that callers don't block the event loop when every request fails at once.
      await sleep(0);
    }
  }
}
