import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureReady } from '../../scripts/setup.mjs';
import { bundlePath } from '../../scripts/setup/build.mjs';
import { endServer, startDevServer } from './dev-server.mjs';

const NAMESPACE_COUNT = 60;

/**
 * One Temporal dev server and one workflow bundle for the whole run; `temporal.ts` hands them to the tests.
 * Each test file takes a namespace of its own, made here, because making one takes the server a second or more to
 * notice.
 */
export default async function globalSetup() {
  const need = ['packages', 'build', 'temporal', 'testServer'];
  const { temporalPath, testServerPath } = await ensureReady({ need, tolerateTypeErrors: true });
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const namespaces = Array.from({ length: NAMESPACE_COUNT }, (_, index) => `holdfast-test-${index + 1}`);
  const { address, pid } = await startDevServer({ executable: temporalPath, folder, namespaces });
  // Teardown is left out when a run is broken off.
  process.once('exit', () => {
    endServer(pid);
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, 'claims'));
  const info = {
    address,
    pid,
    folder,
    namespaces,
    temporalPath,
    testServerPath,
    ...(existsSync(bundlePath) ? { bundlePath } : {}),
  };
  const infoPath = join(folder, 'info.json');
  writeFileSync(infoPath, JSON.stringify(info));
  process.env.HOLDFAST_TEST_INFO = infoPath;
  return async () => {
    while (endServer(pid)) await sleep(20);
    rmSync(folder, { recursive: true, force: true });
  };
}
