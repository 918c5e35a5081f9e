import { randomBytes } from 'node:crypto';

/** Loads a TypeScript module of the tests as the tests do, without a build of its own. */
export async function loadSource(path) {
  // Tests of one run share a key. Each simulation has its own key, from its seed.
  process.env.HOLDFAST_TEST_KEY ??= randomBytes(32).toString('base64');
  // Not imported above: a caller may have yet to install the packages.
  const { createViteServer } = await import('vitest/node');
  const server = await createViteServer({
    configFile: false,
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, ws: false, hmr: false },
  });
  return await server.ssrLoadModule(path);
}
