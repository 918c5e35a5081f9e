import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createNamespaces } from './namespaces.mjs';

/**
 * What all test processes of a run share, each begun when the first of them asks for it (`run-service.ts`) and ended with the
 * run: one Temporal dev server, its namespaces, and stacks of our own processes.
 */
export async function serveRun({ folder, temporalPath }) {
  const closing = [];
  const devServer = once(async () => {
    const home = join(folder, 'temporal');
    mkdirSync(home);
    const namespaces = createNamespaces();
    // Only after the build: this file must load on a clone that has no `dist/` yet.
    const { startDevServer } = await import('../../dist/tools/stack/dev-server.js');
    const server = await startDevServer({
      executable: temporalPath,
      folder: home,
      namespaces: namespaces.first,
      // Off as the server has it: a test shows what becomes of a paused flow.
      adjust: (args) => [...args, '--dynamic-config-value', 'frontend.WorkflowPauseEnabled=true'],
    });
    closing.push(async () => {
      await namespaces.close();
      await server.kill();
    });
    // Teardown is left out when a run is broken off.
    process.once('exit', () => server.killNow());
    await namespaces.connect(server.address);
    return { address: server.address, namespaces };
  });
  const claimNamespace = async () => (await devServer()).namespaces.claim();
  const stacks = new Map();
  const answers = {
    '/temporal': async () => ({ address: (await devServer()).address }),
    '/namespace': async () => ({ namespace: await claimNamespace() }),
    '/stack': async (options) => {
      const key = JSON.stringify(Object.entries(options).sort());
      const start = stacks.get(key) ?? once(() => startSharedStack(options, closing, { devServer, claimNamespace }));
      stacks.set(key, start);
      return await start();
    },
  };

  const reply = async (request, response) => {
    try {
      const answer = await answers[request.url](JSON.parse(await textOf(request)));
      response.end(JSON.stringify(answer));
    } catch (error) {
      response.statusCode = 500;
      response.end(JSON.stringify({ error: error.stack }));
    }
  };
  const server = createServer((request, response) => void reply(request, response));
  const socket = join(folder, 'services.sock');
  await new Promise((resolve, reject) => server.once('error', reject).listen(socket, resolve));
  return {
    socket,
    async close() {
      server.close();
      server.closeAllConnections();
      for (const close of closing.toReversed()) await close();
    },
  };
}

async function startSharedStack(options, closing, { devServer, claimNamespace }) {
  // Only now: this file must load on a clone that has no `dist/` yet.
  const { startTestServices } = await import('./test-services.ts');
  const { address } = await devServer();
  const stack = await startTestServices(options, { address, namespace: await claimNamespace() });
  closing.push(() => stack.close());
  const { engine, sandboxUrl, webhookUrl } = stack;
  return { engine, sandboxUrl, webhookUrl };
}

function once(make) {
  let made;
  return () => (made ??= make());
}

async function textOf(request) {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  return text;
}
