import { fileURLToPath } from 'node:url';
import { createHoldfastWorkers } from 'holdfast/worker';

/** A process of a merchant's, with Holdfast's workers and one of its own. */
const workers = await createHoldfastWorkers({
  own: {
    taskQueue: 'shop',
    workflowsPath: fileURLToPath(new URL('../../docs/examples/shop/workflows.ts', import.meta.url)),
    activities: { ship: async (orderId) => `shipped ${orderId}` },
  },
});
process.once('SIGTERM', () => workers.shutdown());
process.stdout.write(`ready shop http://unused/\n`);
await workers.run();
