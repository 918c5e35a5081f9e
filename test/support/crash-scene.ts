import proto from '@temporalio/proto';
import type { ChargeInput } from '../../src/contract/charge.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { CARDS, chargeInput, newReference } from './charges.js';
import type { CrashEngine } from './crash-engine.js';
import { startCrashEngine } from './crash-engine.js';
import type { EngineProxy } from './crash-engine-proxy.js';
import { openEngineProxy } from './crash-engine-proxy.js';
import { openServiceProxy } from './crash-service-proxy.js';
import type { Stop } from './crash-stops.js';
import { CrashStops } from './crash-stops.js';
import type { AskedCharge } from './ledger-check.js';
import type { TestStack } from './stack.js';
import { startStack } from './stack.js';

const { EventType } = proto.temporal.api.enums.v1;

/** One way through a charge: which card, which local try is lost on its way, what ends a pending one. */
export interface CrashPath {
  readonly name: string;
  readonly card: 'succeeds' | 'pendsThenSucceeds';
  /** The regular activity has to do it then, so that its events are there to be hit. */
  readonly lost?: 'createPayment' | 'createCharge';
  readonly settledBy?: 'event' | 'poll';
}

/** A stack whose worker reaches everything by way of proxies, on a Temporal server that may be killed. */
export interface CrashScene {
  readonly stack: TestStack;
  readonly engine: CrashEngine;
  readonly proxy: EngineProxy;
  readonly stops: CrashStops;
  /** Every charge of this scene that has ended, as its caller was told. */
  readonly asked: AskedCharge[];
  close(): Promise<void>;
}

export async function startCrashScene(): Promise<CrashScene> {
  const stops = new CrashStops();
  const engine = await startCrashEngine();
  const proxy = await openEngineProxy(engine.address, stops);
  const service = await openServiceProxy(stops);
  const stack = await startStack({
    // Never by itself: the tests say when.
    pendingMs: 3_600_000,
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
    asked: [],
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

/** A charge on its way: announced to the stops, and its faults planted. */
export async function prepare({ stack, stops }: CrashScene, path: CrashPath, stop?: Stop): Promise<ChargeInput> {
  const input = await chargeInput(stack.sandbox, CARDS[path.card], { reference: newReference('crash') });
  if (path.settledBy === 'poll') {
    await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: input.reference });
  }
  stops.announce(input.reference, { stop, lost: path.lost && { call: `POST ${path.lost}`, nth: 1 } });
  return input;
}

/** Events of creation come or not before the charge ends: without them all charges of a path have one history. */
export async function withoutCreationEvents({ stack }: CrashScene): Promise<void> {
  await stack.sandbox.addFault({ action: 'lose_event', path: 'payment.*.create' });
}

/**
 * The flow's history as the server wrote it: one entry per write, each with the types of its events. No
 * kill can fall between two events of one write.
 */
export async function writesOf({ stack, engine }: CrashScene, reference: string): Promise<string[][]> {
  const writes: string[][] = [];
  let nextPageToken: Uint8Array | undefined;
  try {
    do {
      const { history, nextPageToken: next } = await stack.temporal.workflowService.getWorkflowExecutionHistory({
        namespace: engine.namespace,
        execution: { workflowId: paymentWorkflowId(reference) },
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
