import type { Logger } from 'pino';
import type { SandboxClock, Schedule } from './schedule.js';
import type { Deliveries } from './deliveries.js';
import type { Faults } from './faults.js';
import type { Settings } from './settings.js';
import type { Store } from './store.js';

/** State and services that all parts of one running sandbox share. */
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
  /** Key that encrypts `encrypted_cvv`. */
  cvvKey: Buffer;
  /** URL of the sandbox, without a trailing slash: the start of every `href`. Set once it listens. */
  baseUrl: string;
  /** Aborted when the sandbox closes, to end every wait. */
  closing: AbortSignal;
}
