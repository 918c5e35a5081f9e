import { readFileSync } from 'node:fs';

/** What `global-setup.mjs` leaves for the test processes. */
export interface TestInfo {
  /** Where `run-services.mjs` answers. */
  socket: string;
  temporalPath: string;
  testServerPath: string;
  bundlePath?: string;
}

export function testInfo(): TestInfo {
  const path = process.env['HOLDFAST_TEST_INFO'];
  if (!path) throw new Error('Nothing is set up for tests: start them with npm test or npm run vitest.');
  return JSON.parse(readFileSync(path, 'utf8')) as TestInfo;
}
