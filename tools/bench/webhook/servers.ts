/**
 * Runs one server as its own process: `handler` is the webhook handler as Holdfast's own process serves it, over a sink
 * that accepts every event at once; `listener` is the same handler mounted in `node:http`; `bare` only verifies the
 * signature.
 */
import { createServer } from 'node:http';
import { Registry } from 'prom-client';
import {
  createWebhookHandler,
  createWebhookMetrics,
  createWebhookServer,
  signedText,
  verify,
  webhookListener,
} from '../../../src/webhook/index.js';
import { listenLocally } from '../../stack/ports.js';
import { APP_ID, KEY } from './requests.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

function makeHandler() {
  const metrics = createWebhookMetrics(new Registry());
  return {
    metrics,
    handler: createWebhookHandler({
      environment: 'test',
      units: [{ name: 'default', appId: APP_ID, privateKey: KEY, previousPrivateKeys: [] }],
      sink: {
        deliver: () => Promise.resolve('delivered'),
        flowOfPayment: () => Promise.resolve(undefined),
        awaitEnd: () => Promise.resolve(undefined),
        endedFlow: () => Promise.resolve({}),
        park: () => Promise.resolve('parked'),
        disputed: () => Promise.resolve('passedOn'),
      },
      paymentDetails: () => Promise.resolve({}),
      metrics,
      logger: quiet,
    }),
  };
}

async function handler(): Promise<string> {
  const app = createWebhookServer({ ...makeHandler(), logger: quiet, ready: () => Promise.resolve(true) });
  return await app.listen({ host: '127.0.0.1', port: 0 });
}

function listener(): Promise<string> {
  return listenLocally(createServer(webhookListener(makeHandler().handler)));
}

function bare(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = signedText(String(request.headers['event-type']), JSON.parse(Buffer.concat(chunks).toString()));
      const known = verify(text, String(request.headers['signature']), [KEY]) !== undefined;
      response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
      response.end('{"result":"delivered"}');
    });
  });
  return listenLocally(server);
}

const servers: Record<string, () => Promise<string>> = { bare, handler, listener };
const url = await servers[process.argv[2] ?? '']?.();
process.once('SIGINT', () => process.exit(0));
console.log(`ready ${process.argv[2]} ${url}`);
