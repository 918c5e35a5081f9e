import { startReadyProcess, type ReadyProcess } from '../../tools/stack/ready-process.js';
import { environmentOf } from '../../tools/stack/services.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import type { TestStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';

/** Of a merchant's process beside this stack. */
export async function shopEnvironment(stack: TestStack, env: Record<string, string> = {}) {
  return environmentOf({
    engine: { address: await temporalAddress(), namespace: stack.namespace },
    stateDir: '.holdfast',
    env: {
      HOLDFAST_API_BASE_URL: stack.sandboxUrl,
      HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
      HOLDFAST_STOP_SECONDS: '5',
      ...env,
    },
  });
}

export async function startShop(stack: TestStack, env: Record<string, string> = {}): Promise<ReadyProcess> {
  return await startReadyProcess('test/package/shop-worker.mjs', { env: await shopEnvironment(stack, env) });
}
