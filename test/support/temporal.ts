import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface TestInfo {
  address: string;
  pid: number;
  folder: string;
  namespaces: string[];
  temporalPath: string;
  testServerPath: string;
  bundlePath?: string;
}

function testInfo(): TestInfo {
  const path = process.env['HOLDFAST_TEST_INFO'];
  if (path === undefined) throw new Error('No test server is running: start tests with npm test or npm run jest.');
  return JSON.parse(readFileSync(path, 'utf8')) as TestInfo;
}

/** Address of the Temporal dev server that all test files of this run share. */
export function temporalAddress(): string {
  return testInfo().address;
}

/** The Temporal CLI that is running the shared server. */
export function temporalCliPath(): string {
  return testInfo().temporalPath;
}

/** The time-skipping test server's executable, for `TestWorkflowEnvironment.createTimeSkipping`. */
export function testServerPath(): string {
  return testInfo().testServerPath;
}

/** The workflow bundle that was built once for this run. */
export function bundlePath(): string {
  const { bundlePath: path } = testInfo();
  if (path === undefined) throw new Error('There is no workflow bundle: dist/workers/bundle-workflows.js made none.');
  return path;
}

/** Takes a namespace that no other caller of this run gets, with all search attributes registered. */
export async function claimNamespace(): Promise<string> {
  const { folder, namespaces } = testInfo();
  for (const name of namespaces) {
    try {
      // Creating a file that must not exist yet is what makes the claim exclusive among the test processes.
      writeFileSync(join(folder, 'claims', name), String(process.pid), { flag: 'wx' });
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`All ${namespaces.length} test namespaces are taken: raise NAMESPACE_COUNT in global-setup.mjs.`);
}
