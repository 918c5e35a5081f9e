import type { Client } from '@temporalio/client';

/** Time limit for one read of a flow, in ms. */
export const DESCRIBE_MS = 10_000;

export type Within = Pick<Deadlines, 'within'>;

/** Runs calls with a time limit and closes the connection once none is running. */
export class Deadlines {
  readonly #client: Client;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Tracks the call until it ends: on a closed connection its retries would fail as unhandled rejections.
   * @param at epoch ms
   */
  async within<Answer>(at: number, call: () => Promise<Answer>): Promise<Answer> {
    const work = this.#client.withDeadline(at, call);
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  /** `within` with a common end (epoch ms) for a group of calls. */
  endingAt(end: number): Within {
    return { within: (at, call) => this.within(Math.min(at, end), call) };
  }

  /** Waits for running calls, then closes the connection. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.#client.connection.close();
  }
}

/**
 * gRPC's default backoff grows to two minutes between connection attempts: too long for a checkout when Temporal is
 * available again. Values in ms.
 */
export const RECONNECT_SOON = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
} as const;
