import type { Client } from '@temporalio/client';
import type { SandboxControl } from '../../../sandbox/control.js';
import type { HoldfastClient } from '../../../src/client/index.js';
import type { ChargeInput } from '../../../src/contract/charge.js';
import type { PaymentRecord } from '../../audit/payment-record.js';

/** What a driver of one flow works with. */
export interface DriverContext {
  holdfast: HoldfastClient;
  temporal: Client;
  sandbox: SandboxControl;
  sandboxUrl: string;
  /** Epoch ms by which whoever still has no answer gives up. */
  limit(): number;
  /** Up to which the pauses between questions grow. Default: they stay as short as they begin. */
  longestPauseMs?: number;
  /** How long each question waits for its answer. Default 10 s. */
  waitForMs?: number;
  /** Keeps the record of a further payment. */
  addRecord(record: PaymentRecord): void;
}

/** A card on file, as a later payment names it. */
export interface OnFile {
  customerId: string;
  token: string;
  cardOnFile: NonNullable<ChargeInput['cardOnFile']>;
}
