import { askRun } from './run-service.js';
import { testInfo } from './test-info.js';

/** Address of the Temporal dev server that all test files of this run share: it starts with the first that asks. */
export async function temporalAddress(): Promise<string> {
  return (await askRun<{ address: string }>('/temporal')).address;
}

/** The Temporal CLI that the shared server is made of. */
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

/** A namespace that no other caller of this run gets, set up as `holdfast setup` makes it. */
export async function claimNamespace(): Promise<string> {
  return (await askRun<{ namespace: string }>('/namespace')).namespace;
}
