import { fileURLToPath } from 'node:url';
import { createHoldfastWorkers } from 'holdfast/worker';

/** Holdfast's workers, and beside them one for the shop's own workflows. */
const workers = await createHoldfastWorkers({
  own: {
    taskQueue: 'shop',
    workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
    activities: { ship: async (orderId: string) => `shipped ${orderId}` },
  },
});
await workers.run();
