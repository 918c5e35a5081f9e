import type { ArrivalOptions } from './arrivals.js';

/** Histories whose order the timing of real processes decided, and why: what came when is taken from them, no command. */
export interface Moments extends ArrivalOptions {
  why: string;
}

const RACE = 'Events of the service raced the replies to the calls that they tell of.';
const FEWER = 'The sandbox of that day sent no events of payments, and these waited for what settles them.';

const TOLD_LATER = [
  'charge-declined-after-provider-error',
  'charge-succeeded-after-garbage',
  'charge-succeeded-after-503',
  'charge-succeeded-after-429',
  'charge-pending-then-webhook',
  'charge-pending-then-declined',
  'charge-cancelled-in-flight',
  'charge-review-timed-out',
  'analyse-risk-waited-for',
];

const RACED = [
  'authorize-captured-after-lost-replies',
  'authorize-capture-pending-then-webhook',
  'authorize-pending-then-webhook',
  'authorize-voided-after-a-lost-reply',
  'authorize-void-pending-then-webhook',
  'authorize-risk-approved-after',
  'authorize-reviewed-after-by-operator',
  'authorize-reauthorized-then-captured',
  'authorize-reauthorized-after-lost-replies',
  'authorize-reauthorized-and-declined',
  'authorize-reauthorized-and-refused',
  'charge-reviewed-by-webhook',
  'credit-succeeded-after-a-lost-reply',
  'credit-pending-then-webhook',
  'store-card-stored-after-lost-replies',
  'store-card-pending-then-webhook',
  'store-card-not-stored-and-voided',
  'store-card-not-stored-and-refunded',
];

export const MOMENTS: Readonly<Record<string, Moments>> = {
  ...Object.fromEntries(TOLD_LATER.map((name) => [name, { why: FEWER }])),
  ...Object.fromEntries(RACED.map((name) => [name, { why: RACE }])),
  'charge-reset-to-its-first-task': { ofRun: 2, why: RACE },
  'authorize-captured-in-part-the-rest-voided': {
    answersAfter: { 'answer capture': 'activity 4' },
    why: 'The flow had read what may be voided before the caller, who knew of his capture, had forbidden it.',
  },
};

/**
 * Histories whose moments are not compared, and why; their commands are. The clock of a skipping engine may jump on
 * before its worker has taken up what came; in the simulation no event waits.
 */
export const OTHER_MOMENTS: Readonly<Record<string, string>> = {
  'payment-actions-refund-after-a-lost-reply': 'an hour was skipped before the worker took the refund up',
  'charge-not-executed-absence-proven':
    'the retries of a POST have jitter since: the last before its window closes is another',
  'subscription-cancelled-in-flight':
    'the event of the end came after those of the beginning, which waited for the end of the flow for 3 s each',
};
