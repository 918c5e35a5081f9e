import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureReady } from '../../tools/setup.mjs';
import { bundlePath } from '../../tools/setup/build.mjs';
import { serveRun } from './run-services.mjs';

/**
 * Sees to the build, and serves what test processes share; `temporal.ts` and `run-service.ts` hand it to the tests. Vitest
 * calls it for each project: the first call is for all of them.
 */
export default async function globalSetup() {
  if (process.env.HOLDFAST_TEST_INFO !== undefined) return undefined;
  process.env.HOLDFAST_TEST_INFO = '';
  const need = ['packages', 'build', 'temporal', 'testServer'];
  const { temporalPath, testServerPath } = await ensureReady({ need, tolerateTypeErrors: true });
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  // Teardown is left out when a run is broken off.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const services = await serveRun({ folder, temporalPath });
  const { socket } = services;
  const info = { socket, temporalPath, testServerPath, ...(existsSync(bundlePath) ? { bundlePath } : {}) };
  const infoPath = join(folder, 'info.json');
  writeFileSync(infoPath, JSON.stringify(info));
  process.env.HOLDFAST_TEST_INFO = infoPath;
  return async () => {
    await services.close();
    rmSync(folder, { recursive: true, force: true });
  };
}
