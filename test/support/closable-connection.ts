import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { RECONNECT_SOON } from '../../src/client/deadlines.js';

/** Timers may fire a little after they are due. */
const LATE_MS = 50;

/**
 * A connection that may be closed under calls nobody waits for any more, as a test that has failed leaves them. A
 * usual one tries such calls again from a timer, where the closed channel throws outside of any promise: that ends
 * whichever test file the process runs by then.
 */
export async function connectClosably(address: string): Promise<Connection> {
  const usual = defaultGrpcRetryOptions();
  let closing = false;
  let lastRetryAt = 0;
  const retries = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !closing && usual.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = usual.delayFunction(attempt, status);
      lastRetryAt = Math.max(lastRetryAt, Date.now() + delayMs);
      return delayMs;
    },
  });
  const connection = await Connection.connect({ address, interceptors: [retries], channelArgs: RECONNECT_SOON });
  const closeNow = connection.close.bind(connection);
  connection.close = async () => {
    closing = true;
    // A retry that is due already can't be called back, but the channel can wait for it.
    if (lastRetryAt + LATE_MS > Date.now()) await sleep(lastRetryAt + LATE_MS - Date.now());
    await closeNow();
  };
  return connection;
}
