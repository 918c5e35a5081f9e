import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { createNotificationActivities } from '../activities/notifications.js';
import { createEnginePort } from '../src/client/engine-port.js';
import { NOTIFICATIONS_TASK_QUEUE } from '../src/contract/names.js';
import type { NotifySettings } from '../src/security/notify-settings.js';

/** Most POSTs at a time: an endpoint that hangs holds its place for 10 s. */
const PLACES = 100;

interface NotificationWorkerDeps {
  connection: NativeConnection;
  client: Client;
  dataConverter: DataConverter;
  notifications: NotifySettings;
  stopMs?: number;
  /** For tests. */
  overrides?: Partial<WorkerOptions>;
}

/** Creates the worker that tells merchants. It runs no workflow: the queue of payments has that of the notifications. */
export async function createNotificationWorker(deps: NotificationWorkerDeps): Promise<Worker> {
  const { connection, client, dataConverter, notifications, stopMs = 5_000 } = deps;
  return await Worker.create({
    connection,
    namespace: client.options.namespace,
    taskQueue: NOTIFICATIONS_TASK_QUEUE,
    dataConverter,
    activities: createNotificationActivities({ engine: createEnginePort(client), notifications, now: Date.now }),
    maxConcurrentActivityTaskExecutions: PLACES,
    shutdownGraceTime: stopMs,
    shutdownForceTime: stopMs + 2_000,
    ...deps.overrides,
  });
}
