import { loadPart } from '../src/config/optional-packages.js';
import type { HoldfastWorkers, HoldfastWorkersOptions } from './holdfast-workers.js';

export { ConfigError } from '../src/config/index.js';
export { MissingPackageError } from '../src/config/optional-packages.js';
export { StartFault } from './process.js';
export { type MetricsSource, workerMetrics } from './telemetry.js';
/** For `bundleWorkflowCode`, where your workflows are bundled ahead: `own.workflowBundle`. */
export { ownConverterPaths } from '../src/security/data-converter.js';
export type { ConverterPaths } from '../src/security/data-converter.js';
export type { HoldfastWorkers, HoldfastWorkersOptions, OwnWorker } from './holdfast-workers.js';

/**
 * Creates Holdfast's workers for a process of your own, configured by the same variables of `process.env` as Holdfast's
 * worker program (docs/configuration.md), and beside them a worker of your own workflows. The threads of the workflows run as the SDK
 * ships them. The SDK's own signal handlers stop them: install a `Runtime` before this call to change that.
 * @throws MissingPackageError without the packages of Temporal's workers
 * @throws RangeError with every fault of `own`; ConfigError with every fault of the configuration; StartFault for a
 * namespace that can't be used
 */
export async function createHoldfastWorkers(options: HoldfastWorkersOptions = {}): Promise<HoldfastWorkers> {
  const packages = ['@temporalio/activity', '@temporalio/worker', '@temporalio/workflow'];
  const { createWorkers } = await loadPart('holdfast/worker', packages, () => import('./holdfast-workers.js'));
  return await createWorkers(options);
}
