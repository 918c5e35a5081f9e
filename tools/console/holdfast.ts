import type { HoldfastClient } from '../../src/client/index.js';

/** What the console needs of the client. */
export type Holdfast = Pick<
  HoldfastClient,
  'charge' | 'authorize' | 'storeCard' | 'subscribe' | 'capture' | 'void' | 'refund' | 'explain'
> & { subscription: Pick<HoldfastClient['subscription'], 'cancel'> };

/** Longest that the page waits for an outcome. A flow that has none by then goes on, and the page looks again. */
export const WAIT = { waitFor: '8 seconds' } as const;
