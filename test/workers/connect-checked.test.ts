import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/index.js';
import { MissingPackageError } from '../../src/config/optional-packages.js';
import { createLogger } from '../../src/security/logging.js';
import { logReasons, refuseFaults } from '../../workers/connect.js';
import { connectChecked } from '../../workers/holdfast-workers.js';
import { environmentOf } from '../cli/command.js';
import { claimNamespace } from '../support/temporal.js';

/** More than the time between two looks at the brakes, in ms. */
const A_LOOK = 2_500;

const UNITS = { HOLDFAST_BUSINESS_UNITS: '{"default":{"appId":"shop","privateKey":"secret"}}' };

afterEach(() => void vi.unstubAllEnvs());

test('a start that ends for want of a package leaves nothing behind that asks a closed connection', async () => {
  const env = await environmentOf(await claimNamespace());
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const lines: string[] = [];
  const logger = createLogger({ name: 'worker', stream: { write: (line) => void lines.push(line) } });
  const config = loadConfig({ ...env, HOLDFAST_API_BASE_URL: 'http://127.0.0.1:9', ...UNITS });
  Object.defineProperty(config, 'referenceBookUrl', {
    get() {
      throw new MissingPackageError('npm install pg');
    },
  });
  const asked = { logger, stopping: new AbortController().signal, connecting: logReasons(logger) };
  await expect(connectChecked(config, { ...asked, checking: refuseFaults })).rejects.toThrow(MissingPackageError);
  await sleep(A_LOOK);
  expect(lines).toEqual([]);
});
