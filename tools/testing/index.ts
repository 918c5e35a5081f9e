/** For the tests of services that pay through Holdfast. */
export { InMemoryHoldfast } from './in-memory-holdfast.js';
export type { PaymentClient, PlannedAnswer } from './in-memory-holdfast.js';
export { startSandboxForTests } from './start-sandbox.js';
export type { SandboxForTests } from './start-sandbox.js';
export { SandboxControl } from '../../sandbox/control.js';
export type {
  CardInput,
  ControlFetch,
  DeliveryView,
  EndpointInput,
  FaultInput,
  Health,
  UnitInput,
  UnitView,
} from '../../sandbox/control.js';
export type { LedgerEntry } from '../../sandbox/control-api/ledger.js';
export type { Fault, FaultAction, ProviderDocument } from '../../sandbox/fault-record.js';
export type { Environment, Profile } from '../../sandbox/records.js';
export type { Settings } from '../../sandbox/settings.js';
export type { DeliveryStatus, WebhookVersion } from '../../sandbox/webhook-records.js';
export { MissingPackageError } from '../../src/config/optional-packages.js';
