import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { createLogger } from '../../src/security/logging.js';
import { EncryptionCodec } from '../../src/security/payload-codec.js';
import { createHealthServer } from '../../workers/health.js';
import { StartFault } from '../../workers/process.js';
import { type ReadyAnswer, Readiness } from '../../workers/readiness.js';
import { grpcError, namespaceServer } from '../client/namespace-server.js';
import { until } from '../support/until.js';

const codec = new EncryptionCodec(parseKeyRing(`k1:${Buffer.alloc(32, 1).toString('base64')}`));
/** Values of the API's `WorkerDeploymentVersionStatus`. */
const STATUS = { inactive: 1, current: 2, ramping: 3, draining: 4 };

const PASSED_OVER =
  /build "b7" of deployment "holdfast" is current.*"holdfast".*set HOLDFAST_BUILD_ID.*set-current-version --deployment-name holdfast --unversioned/;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A worker process whose Temporal is a fake. */
function workerProcess({
  buildId,
  exporter = 'http://127.0.0.1:1/metrics',
  attributesMs = 600_000,
  unchecked,
}: { buildId?: string; exporter?: string; attributesMs?: number; unchecked?: string } = {}) {
  const lines: string[] = [];
  const logger = createLogger({ name: 'worker', stream: { write: (line) => void lines.push(line) } });
  const temporal = namespaceServer();
  const version: { status?: number; error?: Error } = {};
  /** What the server says of each task queue. */
  const routing: { info?: object; error?: Error } = {};
  Object.assign(temporal.connection, {
    withAbortSignal: (_signal: AbortSignal, ask: () => Promise<unknown>) => ask(),
  });
  Object.assign(temporal.connection.workflowService, {
    async describeWorkerDeploymentVersion() {
      if (version.error !== undefined) throw version.error;
      return { workerDeploymentVersionInfo: { status: version.status } };
    },
    async describeTaskQueue() {
      if (routing.error !== undefined) throw routing.error;
      return { pollers: [], ...(routing.info !== undefined && { versioningInfo: routing.info }) };
    },
  });
  const readiness = new Readiness(logger, { namespace: 5, attributes: attributesMs, version: 5 });
  const app = createHealthServer(readiness, exporter);
  stops.push(async () => {
    await readiness.stop();
    await app.close();
  });
  let state = 'RUNNING';
  let bookFault: string | undefined;
  const referenceBook = { fault: () => bookFault, look: async () => void (looks += 1) };
  let looks = 0;
  const { connection } = temporal;
  const client = { options: { namespace: 'shop' }, workflowService: connection.workflowService };
  return {
    temporal,
    version,
    routing,
    readiness,
    app,
    logged: () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
    become: (next: string) => (state = next),
    loseBook: (fault?: string) => (bookFault = fault),
    looks: () => looks,
    serve() {
      const workers = [{ getState: () => state, options: { taskQueue: 'holdfast' } }];
      const engine = { native: () => connection, connection, client, refresh: () => Promise.resolve() };
      const version = buildId === undefined ? undefined : { buildId, deploymentName: 'holdfast' };
      const watched = { engine: engine as never, environment: 'test', unchecked, version, referenceBook } as const;
      readiness.serves(workers as never, codec, watched);
    },
    async ready(): Promise<[number, ReadyAnswer]> {
      const { statusCode, body } = await app.inject('/ready');
      return [statusCode, JSON.parse(body) as ReadyAnswer];
    },
    health: async () => (await app.inject('/health')).statusCode,
  };
}

type Process = ReturnType<typeof workerProcess>;
const untilReady = async (process: Process, status: RegExp): Promise<[number, ReadyAnswer]> =>
  await until(
    () => process.ready(),
    ([, answer]) => status.test(answer.status),
  );

describe('a worker process', () => {
  test('is ready once its workers run, and while it starts says what it waits for', async () => {
    const process = workerProcess();
    expect(await process.ready()).toEqual([503, { status: 'the process starts.', workers: {} }]);
    process.readiness.waiting(['Temporal cannot be reached.']);
    expect(await process.ready()).toEqual([503, { status: 'Temporal cannot be reached.', workers: {} }]);
    process.readiness.waiting([]);
    process.serve();
    expect(await process.ready()).toEqual([200, { status: 'ready', workers: { holdfast: 'RUNNING' } }]);
    expect(await process.health()).toBe(200);
  });

  test('is not ready while Temporal is away or its namespace has become another one, says so once, and recovers', async () => {
    const process = workerProcess();
    process.serve();
    process.temporal.fault = grpcError(4, 'Deadline exceeded');
    expect((await untilReady(process, /cannot be reached/))[0]).toBe(503);
    delete process.temporal.fault;
    process.temporal.namespace = { days: 365, data: { 'holdfast-environment': 'live' } };
    await untilReady(process, /is one for "live"/);
    await untilReady(process, /is one for "live"/);
    process.temporal.namespace = { days: 365, data: { 'holdfast-environment': 'test' } };
    expect((await untilReady(process, /^ready$/))[0]).toBe(200);
    expect(process.logged().map((line) => line.slice(0, 25))).toEqual([
      'Not ready: Temporal canno',
      'Not ready: namespace "sho',
      'What this process waited ',
    ]);
    expect(await process.health()).toBe(200);
  });

  test('of no build is not ready while a build is current, which gets all there is, and says what to do', async () => {
    const process = workerProcess();
    const current = { buildId: 'b7', deploymentName: 'holdfast' };
    process.routing.info = { currentDeploymentVersion: current };
    process.serve();
    expect(await untilReady(process, /is current/)).toMatchObject([
      503,
      { status: expect.stringMatching(PASSED_OVER) },
    ]);
    // What was read last counts.
    process.routing.error = grpcError(14, 'away');
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await process.ready())[0]).toBe(503);
    expect(process.logged().filter((line) => PASSED_OVER.test(line))).toHaveLength(1);
    delete process.routing.error;
    process.routing.info = { currentVersion: '__unversioned__' };
    expect((await untilReady(process, /^ready$/))[0]).toBe(200);
  });

  test.each<[string, { info?: object; error?: Error }]>([
    ['has no versions', {}],
    ['does not know the call', { error: grpcError(12, 'unknown method') }],
    ['has no current build', { info: { currentVersion: '__unversioned__' } }],
    [
      'ramps a build up',
      {
        info: {
          rampingDeploymentVersion: { buildId: 'b7', deploymentName: 'holdfast' },
          rampingVersionPercentage: 100,
        },
      },
    ],
    [
      'ramps away from a build',
      {
        info: {
          currentDeploymentVersion: { buildId: 'b7', deploymentName: 'holdfast' },
          rampingVersion: '__unversioned__',
          rampingVersionPercentage: 10,
        },
      },
    ],
  ])('of no build is ready where the server %s', async (_what, routing) => {
    const process = workerProcess();
    Object.assign(process.routing, routing);
    process.serve();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await process.ready())[0]).toBe(200);
    expect(process.logged()).toEqual([]);
  });

  test('that ends while Temporal refuses it gives that as the reason', () => {
    const { readiness } = workerProcess();
    const error = new Error('Worker still in use');
    expect(readiness.explain(error)).toBe(error);
    readiness.waiting(['Temporal refuses this login.']);
    expect(readiness.explain(error)).toEqual(new StartFault('Temporal refuses this login.'));
  });

  test('asks for search attributes seldom, since they cost a query of visibility', async () => {
    const process = workerProcess();
    process.temporal.refuses.add('countWorkflowExecutions');
    process.serve();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await process.ready())[0]).toBe(200);
  });

  test('that lacks a search attribute is not ready until it is there again, however often it looks', async () => {
    const process = workerProcess({ attributesMs: 20 });
    process.serve();
    process.temporal.attributes.delete('DueAt');
    await untilReady(process, /lacks search attributes \(DueAt=Datetime\)/);
    for (let look = 0; look < 10; look += 1) {
      await new Promise((resolve) => setTimeout(resolve, 3));
      expect((await process.ready())[0]).toBe(503);
    }
    process.temporal.attributes.set('DueAt', 'DATETIME');
    await untilReady(process, /^ready$/);
  });

  test('is ready while visibility alone is away, says so once, and asks it at every look until it answers', async () => {
    const process = workerProcess({ unchecked: 'visibility does not answer' });
    process.temporal.visibilityFault = grpcError(14, 'no node available');
    process.serve();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await process.ready())[0]).toBe(200);
    delete process.temporal.visibilityFault;
    process.temporal.attributes.delete('DueAt');
    await untilReady(process, /lacks search attributes/);
    const later = workerProcess({ attributesMs: 10 });
    later.temporal.visibilityFault = grpcError(14, 'no node available');
    later.serve();
    await until(
      async () => later.logged(),
      (lines) => lines.length > 0,
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(later.logged()).toEqual([expect.stringContaining('visibility does not answer (no node available)')]);
    expect((await later.ready())[0]).toBe(200);
  });

  test('is not ready while its reference book can not be used, asks it again and again, and is not restarted', async () => {
    const process = workerProcess();
    process.serve();
    process.loseBook("the reference book can't be used.");
    expect(await process.ready()).toMatchObject([503, { status: "the reference book can't be used." }]);
    expect(await process.health()).toBe(200);
    const looks = process.looks();
    await until(
      async () => process.looks(),
      (count) => count > looks,
    );
    process.loseBook();
    expect((await process.ready())[0]).toBe(200);
  });

  test('that stops, or has a worker that has failed, is not ready', async () => {
    const process = workerProcess();
    process.serve();
    process.become('FAILED');
    expect(await process.ready()).toEqual([
      503,
      { status: 'the worker of task queue "holdfast" polls for nothing: FAILED.', workers: { holdfast: 'FAILED' } },
    ]);
    expect(await process.health()).toBe(503);
    process.become('DRAINING');
    await process.readiness.stop();
    expect((await process.ready())[1].status).toBe('the process stops.');
    expect(await process.health()).toBe(200);
  });
});

describe('a versioned worker', () => {
  test('is ready before its version is current, or a rollout could never end, and says so again and again', async () => {
    const process = workerProcess({ buildId: 'b7' });
    process.version.error = grpcError(5, 'not found');
    process.serve();
    await until(
      async () => process.logged(),
      (lines) => lines.length >= 2,
    );
    const [status, { version }] = await process.ready();
    expect([status, version?.state]).toEqual([200, 'inactive']);
    expect(version?.means).toMatch(/Build "b7"[^]*is not current[^]*set-current-version[^]*--build-id b7/);
    expect(process.logged()[0]).toBe(version?.means);
  });

  test.each([
    ['current', 0],
    ['ramping', 0],
    ['draining', 1],
  ] as const)('that is %s says so in its answer, and logs %i lines', async (state, lines) => {
    const process = workerProcess({ buildId: 'b7' });
    process.version.status = STATUS[state];
    process.serve();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const [status, { version }] = await process.ready();
    expect([status, version?.state]).toEqual([200, state]);
    expect(process.logged()).toHaveLength(lines);
  });
});

test('the metrics are those of the exporter behind', async () => {
  const exporter = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end('temporal_worker_start 1\n');
  });
  await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
  const { port } = exporter.address() as AddressInfo;
  const { app } = workerProcess({ exporter: `http://127.0.0.1:${port}/metrics` });
  const { body, headers } = await app.inject('/metrics');
  expect([body, headers['content-type']]).toEqual(['temporal_worker_start 1\n', 'text/plain; version=0.0.4']);
  exporter.closeAllConnections();
  exporter.close();
});
