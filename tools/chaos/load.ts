import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxControl } from '../../sandbox/control.js';
import type { ChaosArguments } from './arguments.js';
import type { Campaign } from './campaign.js';
import type { Killer } from './kills.js';
import { faultsOf, planKills } from './plan.js';

/** A dead worker's tasks are given to another one after 10 s; then a call may fail a few times. */
const REACH_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 200;

export interface LoadParts {
  campaign: Campaign;
  sandbox: SandboxControl;
  killer: Killer;
  /** Ends it early. */
  signal: AbortSignal;
}

/** So many callers that ask for flows at the same time, while the service misbehaves and processes die. */
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

  /** Resolves when every caller has gone and every process serves again. The faults are still planted. */
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
      // Nobody may start a process again while the stack is being stopped.
      failed.abort();
      await Promise.allSettled(work);
      throw error;
    }
    await this.#untilAllReachTheService();
  }

  /**
   * Callers may have gone while no worker ran: what they asked for must reach the service before the faults end. On a
   * busy machine hardly any flow would meet a fault otherwise.
   */
  async #untilAllReachTheService(): Promise<void> {
    const { sandbox, signal } = this.#parts;
    const limit = Date.now() + REACH_LIMIT_MS;
    while (!signal.aborted && Date.now() < limit) {
      if ((await sandbox.health()).payments >= this.#begun) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Share that is over. */
  #progress(): number {
    const { until } = this.#args;
    return 'ms' in until ? (Date.now() - this.#begunAt) / until.ms : this.#begun / until.count;
  }

  async #call(until: AbortSignal): Promise<void> {
    while (this.#progress() < 1 && !until.aborted) {
      this.#begun += 1;
      await this.#parts.campaign.startFlow(this.#begun, until);
      // Where everything fails at once, callers must still not take the machine for themselves.
      await sleep(0);
    }
  }
}
