import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endServer } from './dev-server.mjs';

/** Jest calls this whatever the tests did; what it ends was started by `global-setup.mjs`. */
export default async function globalTeardown() {
  const infoPath = process.env.HOLDFAST_TEST_INFO;
  if (!infoPath) return;
  const { pid, folder } = JSON.parse(readFileSync(infoPath, 'utf8'));
  while (endServer(pid)) await sleep(20);
  rmSync(folder, { recursive: true, force: true });
}
