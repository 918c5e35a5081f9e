import { afterEach } from 'vitest';
import type { ProviderClient } from '../../../src/provider/index.js';
import { CHARGE, PAYMENT_ID } from './fake-service.js';

const cleanUps: (() => Promise<unknown>)[] = [];

/** Closes it after the test. */
export function kept<T extends { close(): Promise<unknown> }>(opened: T): T {
  cleanUps.push(() => opened.close());
  return opened;
}

/** To be called once by each test file that keeps something. */
export function closeWhatIsKept(): void {
  afterEach(async () => {
    // All at once: a client waits for its calls, and those end when the services close.
    await Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
  });
}

export const charge = (client: ProviderClient, options = {}) => client.createCharge(PAYMENT_ID, CHARGE, options);

/** Asks at every turn of the event loop. */
export async function untilTrue(condition: () => boolean): Promise<void> {
  const limit = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error('the condition never came true');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
