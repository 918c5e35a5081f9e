import { constants, setPriority } from 'node:os';
import { Runtime } from '@temporalio/worker';
import { loadConfig } from '../src/config/index.js';
import { temporalLogger } from '../src/security/logging.js';
import { refuseFaults } from './connect.js';
import { createHealthServer } from './health.js';
import { connectChecked, workersOf } from './holdfast-workers.js';
import { freeLocalPort, listen, runProcess, StartFault } from './process.js';
import { Readiness } from './readiness.js';
import { reportCounts } from './report-counts.js';
import { workerMetrics } from './telemetry.js';
import { endAfterLoop } from './threads/end-after-loop.js';
import { hasLoopedLately, noteLoop } from './threads/looped-lately.js';
import { watchThreads } from './threads/watch-threads.js';

await runProcess({
  name: 'worker',
  load: loadConfig,
  stopWithinMs: ({ stopSeconds }) => stopSeconds * 1_000 + 3_000,
  async start({ config, logger, stopping }) {
    const readiness = new Readiness(logger);
    const bindAddress = `127.0.0.1:${await freeLocalPort()}`;
    const server = createHealthServer(readiness, `http://${bindAddress}/metrics`);
    const url = await listen(server, {
      host: config.bindAddress,
      port: config.ports.workerMetrics,
      setting: 'HOLDFAST_WORKER_METRICS_PORT',
    });
    Runtime.install({
      logger: temporalLogger(logger),
      telemetryOptions: {
        metrics: workerMetrics({ bindAddress, environment: config.environment, buildId: config.buildId }),
        logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      },
      // The process stops the worker itself, so that connections close after it.
      shutdownSignals: [],
    });
    const connecting = readiness.waiting;
    const checking = config.embedded ? refuseFaults : readiness.waiting;
    const checked = await connectChecked(config, { logger, stopping, connecting, checking });
    const { engine, dataConverter, referenceBook, unchecked } = checked;
    const [codec] = dataConverter.payloadCodecs;
    const { taskQueues, stateDir } = config;
    const loop = endAfterLoop(logger, config.stopSeconds * 1_000);
    const limited = hasLoopedLately(stateDir);
    if (limited)
      logger.warn("A flow has looped within the last hour: flows keep the SDK's own time limit, which costs CPU");
    const asShipped = watchThreads({
      callStacks: config.callStacks,
      limited,
      onEndlessLoop(flow) {
        loop.found(flow);
        noteLoop(stateDir, logger);
      },
    });
    if (asShipped !== undefined)
      logger.warn(
        { version: asShipped.untried },
        'This version of the SDK was not tried without its overhead: it runs as shipped',
      );
    // No buyer waits for a bill: where both run on one machine, checkouts have priority.
    if (taskQueues === 'billing') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    const workers = await workersOf(config, logger, checked);
    loop.ends(workers);
    const endReports = reportCounts(config, { client: engine.client, codec, logger });
    const running = Promise.all(workers.map((worker) => worker.run()));
    const { environment, buildId, deploymentName } = config;
    const version = buildId === undefined ? undefined : { buildId, deploymentName };
    readiness.serves(workers, codec, { engine, environment, unchecked, version, referenceBook });
    return {
      url: `${url}/metrics`,
      // All workers have ended by themselves: there is nothing left to serve, and the log says why.
      failed: Promise.race([
        loop.ended,
        running.then(
          () => Promise.reject(new StartFault('its workers have stopped')),
          (error: unknown) => Promise.reject(readiness.explain(error)),
        ),
      ]),
      async stop() {
        for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
        const unwatched = readiness.stop();
        // After an endless loop its worker never ends, but calls under way may.
        await Promise.race([running, loop.ended]);
        await unwatched;
        await endReports();
        await engine.close();
        await server.close();
      },
    };
  },
});
