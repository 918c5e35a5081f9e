/** Seeded flows of every type on virtual time, judged by the ledger: `npm run simulate -- --flows 1000 --seed 7`. */
import { randomBytes } from 'node:crypto';
import { createViteServer } from 'vitest/node';
import '../test/support/require-sources.mjs';

// Tests of one run share a key; every simulated world has one of its own, from its seed.
process.env.HOLDFAST_TEST_KEY ??= randomBytes(32).toString('base64');
const server = await createViteServer({
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, watch: null, ws: false, hmr: false },
});
const { main } = await server.ssrLoadModule('/test/simulation/campaign/main.ts');
process.exit(await main(process.argv.slice(2)));
