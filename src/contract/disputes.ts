import { z } from 'zod';
import { type OutputOf, SharedSchema } from './shared-schema.js';

/** Where a chargeback was seen. */
const SEEN_BY = ['event', 'statement'] as const;

/** Argument of signal `disputed`: what flow `paymentActions` is to look into. A further field is dropped, as in an event. */
export const disputeSeenSchema = new SharedSchema(
  z.object({
    paymentId: z.string().min(1).max(200),
    seenBy: z.enum(SEEN_BY),
    /** Of the event: it is looked into once, however often it comes. */
    hash: z.string().min(1).max(200).optional(),
  }),
);
export type DisputeSeen = OutputOf<typeof disputeSeenSchema>;

/** A chargeback of a payment. */
export interface Dispute {
  knownBy: 'read' | 'event' | 'statement';
  /** ISO 8601 UTC: since when it is known. */
  at: string;
}

export function shownDispute({ knownBy, at }: Dispute): Dispute {
  return { knownBy, at };
}

/** Argument of signal `paymentDisputed` of a subscription. A further field is dropped, as in an event. */
export const paymentDisputedSchema = new SharedSchema(
  z.object({
    paymentId: z.string().min(1).max(200),
    /** `<subscription>.<period>.<attempt>` */
    paymentReference: z.string().min(1).max(70),
  }),
);
export type PaymentDisputed = OutputOf<typeof paymentDisputedSchema>;

/** For a schema with `confirmDisputed`: the result keeps who has confirmed, and why. */
export function requirePerson(
  {
    confirmDisputed,
    who,
    why,
  }: { confirmDisputed?: true | undefined; who?: string | undefined; why?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (confirmDisputed === undefined) return;
  for (const [name, value] of Object.entries({ who, why }))
    if (value === undefined)
      context.addIssue({ code: 'custom', path: [name], message: 'is required with confirmDisputed' });
}
