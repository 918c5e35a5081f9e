import type { Client } from '@temporalio/client';
import type { SandboxControl } from '../../../sandbox/control.js';
import type { HoldfastClient } from '../../../src/client/index.js';
import type { ChargeInput } from '../../../src/contract/charge.js';
import type { PaymentRecord } from '../../audit/payment-record.js';

/** What the driver of a flow works with. */
export interface DriverContext {
  holdfast: HoldfastClient;
  temporal: Client;
  sandbox: SandboxControl;
  sandboxUrl: string;
  /** Epoch ms after which a caller without an answer gives up. */
  limit(): number;
  /** Upper limit in ms of the growing pause between retries. Default: the pause doesn't grow. */
  longestPauseMs?: number;
  /** Timeout in ms of each request. Default 10 s. */
  waitForMs?: number;
  /** Adds the record of a further payment. */
  addRecord(record: PaymentRecord): void;
}

/** A card on file, as the input of a later payment names it. */
export interface OnFile {
  customerId: string;
  token: string;
  cardOnFile: NonNullable<ChargeInput['cardOnFile']>;
}
