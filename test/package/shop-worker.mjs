import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { ownConverterPaths, createHoldfastWorkers } from 'holdfast/worker';

const workflowsPath = fileURLToPath(new URL('shop-workflows.mjs', import.meta.url));
const logger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** A process of a merchant's, with Holdfast's workers and one of its own, whose workflows may be bundled ahead. */
const workers = await createHoldfastWorkers({
  own: {
    taskQueue: 'shop',
    ...(process.env.SHOP_BUNDLES_AHEAD === '1'
      ? { workflowBundle: await bundleWorkflowCode({ workflowsPath, ...ownConverterPaths(), logger }) }
      : { workflowsPath }),
    activities: { ship: async (orderId) => `shipped ${orderId}` },
  },
});
process.once('SIGTERM', () => workers.shutdown());
process.stdout.write(`ready shop http://unused/\n`);
await workers.run();
