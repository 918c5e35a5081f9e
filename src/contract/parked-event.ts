import { z } from 'zod';
import { transactionEventSchema } from './messages.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

/** Why an event has not found its flow. */
export const PARK_REASONS = [
  /** The payment is ours, and no flow of its name is known. */
  'flowNotFound',
  /** Whose payment it is could not be asked of the service in time. */
  'lookUpFailed',
  /** The flow has ended, and the event says otherwise. */
  'contradictsResult',
  /** The flow has ended, and its result knows no such transaction. */
  'unknownTransaction',
] as const;
export type ParkReason = (typeof PARK_REASONS)[number];

/** What became of an event. `late`: its flow had ended and the event agrees with how. */
export type EventDelivery =
  | { result: 'delivered' | 'late'; workflowId: string }
  /** The payment was made outside of Holdfast. */
  | { result: 'foreign' }
  | { result: 'unclaimed'; reason: ParkReason; workflowId?: string };

/** Input of workflow `parkedEvent`, whose id is `parked-event-<hash>`. */
export const parkedEventInputSchema = new SharedSchema(
  z.strictObject({ event: transactionEventSchema.zod, reason: z.enum(PARK_REASONS) }),
);
export type ParkedEventInput = InputOf<typeof parkedEventInputSchema>;
export type ParsedParkedEventInput = OutputOf<typeof parkedEventInputSchema>;

/** How a parked event ended. Times are ISO 8601 UTC. */
export interface ParkedEventResult {
  status: 'delivered' | 'unclaimed';
  /** `delivered` and `late` go with the first status; `foreign` needs nobody. */
  reason: 'delivered' | 'late' | 'foreign' | ParkReason;
  /** The flow that took it, or that it disagrees with. */
  workflowId?: string;
  attempts: number;
  parkedAt: string;
  endedAt: string;
}

/** Answer of query `status` of a parked event. */
export interface ParkedEventStatus {
  status: 'parked' | 'delivered' | 'unclaimed';
  reason: ParkedEventResult['reason'];
  attempts: number;
  needsOperator: boolean;
  /** When the next attempt is made; absent when there is none. */
  dueAt?: string;
}

/** A flow that has ended can't come to agree: somebody has to look. */
export function needsPerson(reason: ParkReason): boolean {
  return reason === 'contradictsResult' || reason === 'unknownTransaction';
}
