import type { Seeded } from './seeded.js';

/** What becomes of a request; see `Network`. */
export const FATES = ['deliver', 'refuseConnection', 'loseRequest', 'dropReply', 'duplicate'] as const;
export type Fate = (typeof FATES)[number];

export interface Passage {
  fate: Fate;
  /** Virtual ms until it arrives. */
  requestDelayMs: number;
  /** Virtual ms from the server's answer to its arrival, or to the reset of the connection. */
  replyDelayMs: number;
  /** Virtual ms from the first arrival of a duplicate to the second. Default `replyDelayMs`. */
  repeatAfterMs?: number;
}

/** One request as the network saw it. */
export interface PassedRequest {
  /** Counted from 1 in the order of sending. */
  readonly number: number;
  /** Who sent it, such as `worker` or `service`. */
  readonly from: string;
  /** Origin of the address, such as `http://sandbox.test`. */
  readonly to: string;
  readonly method: string;
  readonly path: string;
  /** Idempotency key. */
  readonly key: string | undefined;
  readonly body: string | undefined;
  /** Epoch ms of the sending. */
  readonly at: number;
  fate: Fate | undefined;
  /** Epoch ms of each arrival at the server: none, one or two. */
  readonly arrivedAt: number[];
  /** Status of the answer that the sender got, or the code of the error. */
  outcome: number | string | undefined;
}

/** Decides about each request when it is sent, in the order in which they are. */
export type NetworkStrategy = (request: PassedRequest) => Passage;

/** Everything arrives, after 2 ms each way. */
export const calm: NetworkStrategy = () => ({ fate: 'deliver', requestDelayMs: 2, replyDelayMs: 2 });

export interface FaultyNetwork {
  random: Seeded;
  /** Probability of each fault; what is left of 1 is delivered. */
  odds: Partial<Record<Exclude<Fate, 'deliver'>, number>>;
  /** Each delay is from 1 ms to this, short ones more often than long ones. */
  longestDelayMs: number;
  /** Requests that may be met; others pass calmly. Default: all. */
  meets?: (request: PassedRequest) => boolean;
}

/** Faults and delays at random. */
export function faultyNetwork({ random, odds, longestDelayMs, meets = () => true }: FaultyNetwork): NetworkStrategy {
  const delay = (): number => Math.max(1, Math.round(longestDelayMs ** random.next()));
  return (request) => {
    if (!meets(request)) return calm(request);
    let draw = random.next();
    const hit = FATES.find((fate) => fate !== 'deliver' && (draw -= odds[fate] ?? 0) < 0);
    return { fate: hit ?? 'deliver', requestDelayMs: delay(), replyDelayMs: delay(), repeatAfterMs: delay() };
  };
}
