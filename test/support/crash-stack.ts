import proto from '@temporalio/proto';
import { type CrashEngine, startCrashEngine } from './crash-engine.js';
import { type EngineProxy, openEngineProxy } from './crash-engine-proxy.js';
import type { JourneyRecord } from './crash-audit.js';
import { BRIEF_UNIT, type CrashPath, type Journey } from './crash-paths.js';
import { openServiceProxy } from './crash-service-proxy.js';
import { CrashStops, type Stop } from './crash-stops.js';
import { startStack, type TestStack } from './stack.js';

const { EventType } = proto.temporal.api.enums.v1;

/** A stack whose worker reaches everything by way of proxies, on a Temporal server that may be killed. */
export interface CrashStack {
  readonly stack: TestStack;
  readonly engine: CrashEngine;
  readonly proxy: EngineProxy;
  readonly stops: CrashStops;
  /** Every journey of this crashStack that has ended, and its answers. */
  readonly records: JourneyRecord[];
  close(): Promise<void>;
}

export async function startCrashStack(): Promise<CrashStack> {
  const stops = new CrashStops();
  const engine = await startCrashEngine();
  const proxy = await openEngineProxy(engine.address, stops);
  const service = await openServiceProxy(stops);
  const stack = await startStack({
    // Never by itself: the tests say when.
    pendingMs: 3_600_000,
    units: [BRIEF_UNIT],
    temporal: engine,
    workerEnv: { TEMPORAL_ADDRESS: proxy.address, HOLDFAST_API_BASE_URL: service.url },
  });
  service.target = stack.sandboxUrl;
  await stack.sandbox.settings({ resendFirstMs: 500 });
  return {
    stack,
    engine,
    proxy,
    stops,
    records: [],
    async close() {
      // Nothing is left to end in good order, and the database is thrown away.
      await stack.worker().kill();
      await stack.close();
      proxy.close();
      service.close();
      await engine.close();
    },
  };
}

/** A journey as far as nothing disturbs it: announced to the stops, and its faults planted. */
export async function prepare({ stack, stops }: CrashStack, path: CrashPath, stop?: Stop): Promise<Journey> {
  const journey = await path.begin(stack);
  if (path.settledBy === 'poll') {
    await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: journey.reconciliationId });
  }
  stops.announce(journey.name, { stop, lost: path.lost && { call: `POST ${path.lost}`, nth: 1 } });
  return journey;
}

/**
 * Events of creation, and those of the payment itself, come or not before a flow has gone on: without them all
 * journeys of a path have one history.
 */
export async function withoutCreationEvents({ stack }: CrashStack): Promise<void> {
  for (const path of ['payment.*.create', 'payment.payment.*']) {
    await stack.sandbox.addFault({ action: 'lose_event', path });
  }
}

/**
 * The flow's history as the server wrote it: one entry per write, each with the types of its events. No
 * kill can fall between two events of one write.
 */
export async function writesOf({ stack, engine }: CrashStack, { workflowId }: Journey): Promise<string[][]> {
  const writes: string[][] = [];
  let nextPageToken: Uint8Array | undefined;
  try {
    do {
      const { history, nextPageToken: next } = await stack.temporal.workflowService.getWorkflowExecutionHistory({
        namespace: engine.namespace,
        execution: { workflowId },
        // The server counts writes here, not events.
        maximumPageSize: 1,
        ...(nextPageToken !== undefined && { nextPageToken }),
      });
      const events = history?.events ?? [];
      if (events.length > 0) writes.push(events.map(({ eventType }) => nameOf(eventType)));
      nextPageToken = next != null && next.length > 0 ? next : undefined;
    } while (nextPageToken !== undefined);
  } catch (error) {
    if (!/not found/i.test(String(error))) throw error;
  }
  return writes;
}

function nameOf(eventType: proto.temporal.api.enums.v1.EventType | null | undefined): string {
  return (EventType[eventType ?? 0] ?? String(eventType)).replace('EVENT_TYPE_', '');
}
