import type { Client } from '@temporalio/client';

/** Of one read of a flow. */
export const DESCRIBE_MS = 10_000;

export type Within = Pick<Deadlines, 'within'>;

/** Calls with a time limit, and the closing of the connection once none is under way. */
export class Deadlines {
  readonly #client: Client;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * A connection that is closed under a call makes the call's retries fail outside of any promise.
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

  /** The same for calls of which none may end later than all of them together. */
  endingAt(end: number): Within {
    return { within: (at, call) => this.within(Math.min(at, end), call) };
  }

  /** Waits for the calls under way, then closes the connection. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.#client.connection.close();
  }
}
