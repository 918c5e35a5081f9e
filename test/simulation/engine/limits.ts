import { GRPC, GrpcError } from './shapes.js';
import type { Run } from './run.js';

/** What a server of version 1.31 enforces (dynamic configuration, defaults). */
export const LIMITS = {
  historyEvents: 51_200,
  suggestContinueAsNewEvents: 4_096,
  suggestContinueAsNewBytes: 4 * 1_048_576,
  signals: 10_000,
  updates: 2_000,
  updatesInFlight: 10,
  payloadBytes: 2 * 1_048_576,
  pendingActivities: 2_000,
  idBytes: 1_000,
  searchAttributeBytes: 2_048,
  workflowTaskMs: 10_000,
  stickyMs: 10_000,
} as const;

/** Of one flow. Not a server's limit: a flow that continues without end fails its test instead of keeping it busy for ever. */
export const MOST_RUNS = 500;

export function suggestsContinueAsNew(run: Run, afterEvents: number): boolean {
  return (
    run.events.length >= afterEvents ||
    run.sizeBytes >= LIMITS.suggestContinueAsNewBytes ||
    run.updateCount >= LIMITS.updates * 0.9
  );
}

export function refuseTooManyUpdates(run: Run): void {
  const inFlight = [...run.updates.values()].filter(({ state }) => state !== 'completed').length;
  if (inFlight >= LIMITS.updatesInFlight) {
    throw new GrpcError(
      GRPC.resourceExhausted,
      `limit on number of concurrent in-flight updates has been reached (${LIMITS.updatesInFlight})`,
    );
  }
  if (run.updateCount >= LIMITS.updates) {
    throw new GrpcError(
      GRPC.failedPrecondition,
      `limit on number of total updates has been reached (${LIMITS.updates})`,
    );
  }
}

/** The largest payload below, in bytes. */
export function largestPayload(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let largest = 0;
  for (const part of Object.values(value)) largest = Math.max(largest, largestPayload(part));
  return largest;
}
