import type { Logger } from 'pino';
import type { SandboxClock } from './clock.js';
import type { Deliveries } from './deliveries.js';
import type { Faults } from './faults.js';
import type { Schedule } from './schedule.js';
import type { Settings } from './settings.js';
import type { Store } from './store.js';

/** What every part of one running sandbox shares. */
export interface Sandbox {
  store: Store;
  clock: SandboxClock;
  schedule: Schedule;
  faults: Faults;
  deliveries: Deliveries;
  settings: Settings;
  log: Logger;
  /** Salt of card fingerprints. */
  fingerprintSalt: string;
  /** Key that seals `encrypted_cvv`. */
  cvvKey: Buffer;
  /** Where it is reached, without a trailing slash: the start of every `href`. Known once it listens. */
  baseUrl: string;
  /** Aborted when the sandbox closes, so that nothing keeps waiting. */
  closing: AbortSignal;
}
