import type { Hop } from '../engine/engine.js';
import type { Seeded } from '../world/seeded.js';
import {
  calm,
  type NetworkStrategy,
  type PassedRequest,
  faultyNetwork,
  type FaultyNetwork,
} from '../world/strategies.js';
import type { Counts } from './counts.js';
import { resourceOf } from './resource-of.js';

/** How hard a batch is tried. */
export interface FaultProfile {
  readonly odds: FaultyNetwork['odds'];
  readonly longestDelayMs: number;
  readonly longestHopMs: number;
  /** Probability that a worker dies around one of its requests. */
  readonly crash: number;
  /** Probability that the answer to a workflow task never arrives. */
  readonly lostTask: number;
  /** Whether the service itself fails calls and events now and then. */
  readonly withServiceFaults: boolean;
}

export const FAULT_PROFILES: readonly FaultProfile[] = [
  {
    odds: { refuseConnection: 0.02, loseRequest: 0.02, dropReply: 0.04, duplicate: 0.03 },
    longestDelayMs: 300,
    longestHopMs: 20,
    crash: 0.004,
    lostTask: 0.002,
    withServiceFaults: true,
  },
  {
    odds: { refuseConnection: 0.05, loseRequest: 0.05, dropReply: 0.1, duplicate: 0.1 },
    longestDelayMs: 6_000,
    longestHopMs: 200,
    crash: 0.01,
    lostTask: 0.005,
    withServiceFaults: false,
  },
  {
    odds: { duplicate: 0.2, dropReply: 0.02 },
    longestDelayMs: 40_000,
    longestHopMs: 2_000,
    crash: 0.006,
    lostTask: 0.003,
    withServiceFaults: false,
  },
];

/** What the network and the engine do to everything that passes, until it is over. */
export class FaultSchedule {
  isOver = false;
  /** Lets the worker of that name die. */
  kill: (worker: string) => void = () => {};
  readonly #random: Seeded;
  readonly #faulty: NetworkStrategy;

  constructor(
    readonly profile: FaultProfile,
    random: Seeded,
    private readonly counts: Counts,
  ) {
    this.#random = random.fork('weather');
    const { odds, longestDelayMs } = profile;
    this.#faulty = faultyNetwork({ random: random.fork('storm'), odds, longestDelayMs });
  }

  readonly network: NetworkStrategy = (request) => {
    if (this.isOver) return calm(request);
    const passage = this.#faulty(request);
    this.counts.add('network', `${passage.fate}: ${request.from.replace(/ \d+$/, '')} to ${new URL(request.to).host}`);
    if (request.from.startsWith('worker') && this.#random.chance(this.profile.crash)) {
      const isBefore = this.#random.chance(0.5);
      const { requestDelayMs, replyDelayMs } = passage;
      const afterMs = isBefore
        ? this.#random.int(0, requestDelayMs)
        : requestDelayMs + this.#random.int(0, replyDelayMs + 1);
      this.#crash(request, afterMs, isBefore ? 'request under way' : 'reply under way');
    }
    return passage;
  };

  readonly hop = (hop: Hop): number => {
    if (this.isOver) return 1;
    this.counts.add('engine hop', hop);
    return Math.max(1, Math.round(this.profile.longestHopMs ** this.#random.next()));
  };

  readonly losesAnswer = (type: string): boolean => {
    if (this.isOver || !this.#random.chance(this.profile.lostTask)) return false;
    this.counts.add('crash point', `answer to a task of ${type} lost`);
    return true;
  };

  #crash(request: PassedRequest, afterMs: number, when: string): void {
    this.counts.add('crash point', `${request.method} ${resourceOf(request.path)}: ${when}`);
    setTimeout(() => this.kill(request.from), afterMs);
  }
}
