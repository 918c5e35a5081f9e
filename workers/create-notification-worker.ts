import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { createNotificationActivities, DELIVERY_PLACES } from '../activities/notifications.js';
import { createEnginePort } from '../src/client/engine-port.js';
import { DELIVERIES_TASK_QUEUE, NOTIFICATIONS_TASK_QUEUE } from '../src/contract/names.js';
import type { NotifySettings } from '../src/security/notify-settings.js';

interface NotificationWorkerDeps {
  connection: NativeConnection;
  client: Client;
  dataConverter: DataConverter;
  notifications: NotifySettings;
  stopMs?: number;
  /** For tests. */
  overrides?: Partial<WorkerOptions>;
}

/**
 * Creates the workers that tell merchants, without any workflow: the queue of payments has that of the notifications.
 * Hand-overs have a queue and places of their own, because a flow that has ended waits for its own.
 */
export async function createNotificationWorkers(deps: NotificationWorkerDeps): Promise<Worker[]> {
  const { connection, client, dataConverter, notifications, stopMs = 5_000 } = deps;
  const activities = createNotificationActivities({ engine: createEnginePort(client), notifications, now: Date.now });
  const workers: Worker[] = [];
  for (const taskQueue of [NOTIFICATIONS_TASK_QUEUE, DELIVERIES_TASK_QUEUE])
    workers.push(
      await Worker.create({
        connection,
        namespace: client.options.namespace,
        taskQueue,
        dataConverter,
        activities,
        maxConcurrentActivityTaskExecutions: DELIVERY_PLACES,
        shutdownGraceTime: stopMs,
        shutdownForceTime: stopMs + 2_000,
        ...deps.overrides,
      }),
    );
  return workers;
}
