import type { Plain } from './decode.js';

/** Something that the code sends otherwise than an old history recorded, on purpose. */
export interface Change {
  /** Its name, without `.json`. */
  history: string;
  event: number;
  /** As the test names it. */
  path: string;
  /** What is sent now; undefined when it is left out. */
  now: Plain | undefined;
  why: string;
}

const NAMED = 'A capture or refund of the whole names no sum: the service takes the whole for what is not named.';
/** By the events that ask for them. */
const WHOLE_CAPTURES: Readonly<Record<string, readonly number[]>> = {
  'authorize-capture-declined-then-captured': [17],
  'authorize-capture-never-confirmed': [8, 22, 35, 48, 61],
  'authorize-capture-pending-then-webhook': [17],
  'authorize-capture-refused-then-voided': [17],
  'authorize-captured': [17],
  'authorize-captured-after-lost-replies': [27],
  'authorize-captured-at-once': [10],
  'authorize-made-anew-then-captured': [82],
  'authorize-pending-then-webhook': [27],
  'authorize-reviewed-after-by-operator': [40],
  'authorize-risk-approved-after': [19],
};
const WHOLE_REFUNDS: Readonly<Record<string, readonly number[]>> = {
  'store-card-not-refunded': [74],
  'store-card-not-stored-and-refunded': [76],
  'store-card-refunded-after-declines': [71],
};

function unnamed(path: string, histories: Readonly<Record<string, readonly number[]>>): Change[] {
  return Object.entries(histories).flatMap(([history, events]) =>
    events.map((event) => ({ history, event, path, now: undefined, why: NAMED })),
  );
}

/** The histories stay as they were recorded: running flows of that age must go on. */
export const CHANGES: readonly Change[] = [
  ...unnamed('input[0].capture.amount', WHOLE_CAPTURES),
  ...unnamed('input[0].refund.amount', WHOLE_REFUNDS),
  ...[48, 49].map((event) => ({
    history: 'store-card-declined',
    event,
    path: 'result.retryable',
    now: 'newCard',
    why: 'A card whose first card-on-file transaction was declined must not be used again.',
  })),
];

/** Of every history alike. What a worker tells of itself while it reads does not bind a flow that is under way. */
export const CHANGED_EVERYWHERE: readonly Pick<Change, 'path' | 'now' | 'why'>[] = [
  { path: 'heartbeatTimeout', now: 10_000, why: 'A read that was lost with its worker is made again within seconds.' },
];
