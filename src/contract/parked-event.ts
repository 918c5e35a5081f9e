import { z } from 'zod';
import { transactionEventSchema } from './messages.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

/** Why an event could not be routed to a flow. */
export const PARK_REASONS = [
  /** The payment is ours, but no flow with its id exists. */
  'flowNotFound',
  /** The service did not say in time who created the payment. */
  'lookUpFailed',
  /** The flow has ended with a result that contradicts the event. */
  'contradictsResult',
  /** The flow has ended, and its result doesn't contain this transaction. */
  'unknownTransaction',
] as const;
export type ParkReason = (typeof PARK_REASONS)[number];

/** Result of routing an event. `late`: its flow had ended, and the event agrees with the result. */
export type EventDelivery =
  | { result: 'delivered' | 'late'; workflowId: string }
  /** The payment was not created by Holdfast. */
  | { result: 'foreign' }
  | { result: 'unclaimed'; reason: ParkReason; workflowId?: string };

/** Input of workflow `parkedEvent`, whose id is `parked-event-<hash>`. A further field is dropped, as in an event. */
export const parkedEventInputSchema = new SharedSchema(
  z.object({ event: transactionEventSchema.zod, reason: z.enum(PARK_REASONS) }),
);
export type ParkedEventInput = InputOf<typeof parkedEventInputSchema>;
export type ParsedParkedEventInput = OutputOf<typeof parkedEventInputSchema>;

/** Result of a parked event. Times are ISO 8601 UTC. */
export interface ParkedEventResult {
  status: 'delivered' | 'unclaimed';
  /** `delivered` and `late` belong to the first status; `foreign` needs no action. */
  reason: 'delivered' | 'late' | 'foreign' | ParkReason;
  /** The flow that received the event, or that contradicts it. */
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
  /** When the next attempt is made; undefined if there is none. */
  dueAt?: string;
}

/** A closed flow's result can't change, so an operator must check the event. */
export function needsPerson(reason: ParkReason): boolean {
  return reason === 'contradictsResult' || reason === 'unknownTransaction';
}
