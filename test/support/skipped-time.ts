import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { chargeFingerprint, startMemo } from '../../src/client/start-options.js';
import type { ChargeInput, FinalChargeOutcome } from '../../src/contract/charge.js';
import { chargeInputSchema } from '../../src/contract/charge.js';
import { createDispatcher, ProviderClient } from '../../src/provider/index.js';
import { SandboxControl } from '../../src/sandbox/control.js';
import { createPaymentWorker } from '../../workers/create-payment-worker.js';
import { testDataConverter } from './data-converter.js';
import { spawnProcess } from './spawned.js';
import { bundlePath, testServerPath } from './temporal.js';

const UNIT = { appId: 'holdfast-sandbox', privateKey: 'sandbox-private-key' };

/** One request on its way to the service, with the engine's time at which it came. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  /** Epoch ms on the engine's clock, which skips what nobody waits for. */
  readonly at: number;
}

/** `pass`: the sandbox answers. `down`: 503, the sandbox hears nothing. `actAndDrop`: it acts, nobody hears of it. */
export type Treatment = 'pass' | 'down' | 'actAndDrop';

/**
 * A worker on an engine whose clock runs as fast as it can, so that a day passes in seconds. Between the
 * worker and the sandbox stands a post that notes every request with the engine's time.
 */
export interface SkippedTime {
  readonly sandbox: SandboxControl;
  readonly seen: SeenRequest[];
  /** Decides about each request; `pass` at first. */
  treat(rule: (request: SeenRequest) => Treatment): void;
  /** Starts a charge as our client does and returns how it ended, and the engine's time at its start. */
  charge(input: ChargeInput): Promise<{ outcome: FinalChargeOutcome; startedAt: number }>;
  close(): Promise<void>;
}

export async function startSkippedTime(): Promise<SkippedTime> {
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-skipped-'));
  const sandboxProcess = await spawnProcess('dist/src/sandbox/main.js', {
    HOLDFAST_STATE_DIR: stateDir,
    HOLDFAST_SANDBOX_PORT: '0',
    HOLDFAST_LOG_LEVEL: 'warn',
  });
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: testServerPath() } },
    client: { dataConverter: testDataConverter() },
  });
  const { client } = environment;
  const seen: SeenRequest[] = [];
  let rule: (request: SeenRequest) => Treatment = () => 'pass';
  const post = await listen(async (request, response) => {
    const noted: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      key: request.headers['idempotency-key']?.toString(),
      at: await environment.currentTimeMs(),
    };
    seen.push(noted);
    const treatment = rule(noted);
    if (treatment === 'down') return void response.writeHead(503).end();
    const answer = await forward(sandboxProcess.url, request);
    if (treatment === 'actAndDrop') return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });

  const dispatcher = createDispatcher();
  const provider = new ProviderClient({
    baseUrl: `http://127.0.0.1:${(post.address() as AddressInfo).port}`,
    environment: 'test',
    unit: { ...UNIT, apiVersion: '1.3.0' },
    dispatcher,
  });
  const worker = await createPaymentWorker({
    connection: environment.nativeConnection,
    client,
    dataConverter: testDataConverter(),
    providers: new Map([['default', provider]]),
    bundlePath: bundlePath(),
  });
  const running = worker.run();

  return {
    sandbox: new SandboxControl(sandboxProcess.url),
    seen,
    treat: (next) => void (rule = next),
    async charge(input) {
      const parsed = chargeInputSchema.parse(input);
      const startedAt = await environment.currentTimeMs();
      const handle = await client.workflow.start('charge', {
        taskQueue: 'holdfast',
        workflowId: `payment-${input.reference}`,
        args: [parsed],
        memo: startMemo(chargeFingerprint(parsed)),
      });
      return { outcome: (await handle.result()) as FinalChargeOutcome, startedAt };
    },
    async close() {
      worker.shutdown();
      await running;
      await environment.teardown();
      await dispatcher.close();
      post.closeAllConnections();
      post.close();
      await sandboxProcess.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<Server> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function forward(base: string, request: IncomingMessage): Promise<{ status: number; body: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' && !['host', 'connection', 'content-length'].includes(name)
      ? [[name, value] as [string, string]]
      : [],
  );
  const answer = await fetch(new URL(request.url ?? '/', base), {
    method: request.method ?? 'GET',
    headers,
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  });
  return { status: answer.status, body: await answer.text() };
}
