import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, type Services, type ServicesOptions, startServices } from '../../tools/stack/services.js';
import { TEST_ENCRYPTION_KEYS } from './data-converter.js';

export interface TestServicesOptions extends Pick<ServicesOptions, 'webhook' | 'units' | 'webhookEnv' | 'workerEnv'> {
  /** How long `Pending` mocks take, in ms. Default 10 s, as the sandbox has it. */
  pendingMs?: number;
  /** Subscriptions too. Default false: their queue has a worker of its own. */
  billing?: boolean;
}

/** @throws Error when a process does not become ready; those that were are stopped then */
export function startTestServices(
  { pendingMs, billing = false, ...options }: TestServicesOptions,
  engine: Engine,
): Promise<Services> {
  return startServices({
    ...options,
    engine,
    stateDir: mkdtempSync(join(tmpdir(), 'holdfast-stack-')),
    env: {
      HOLDFAST_BILLING_CALLS_PER_SECOND: '1000',
      HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
      HOLDFAST_TASK_QUEUES: billing ? 'all' : 'payments',
    },
    ...(pendingMs !== undefined && { sandboxEnv: { HOLDFAST_SANDBOX_PENDING_MS: String(pendingMs) } }),
  });
}
