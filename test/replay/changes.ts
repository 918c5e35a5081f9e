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

const NAMED = 'A capture of the whole names no sum: the service takes the whole for what is not named.';
/** By the events that ask for them. */
const WHOLE_CAPTURES: Readonly<Record<string, readonly number[]>> = {
  'authorize-capture-declined-then-captured': [17],
  'authorize-capture-never-confirmed': [8, 22, 35, 48, 61],
  'authorize-capture-pending-then-webhook': [17],
  'authorize-capture-refused-then-voided': [17],
  'authorize-captured': [17],
  'authorize-captured-after-lost-replies': [27],
  'authorize-captured-at-once': [10],
  'authorize-pending-then-webhook': [27],
  'authorize-reviewed-after-by-operator': [40],
  'authorize-risk-approved-after': [19],
};
function wholeCaptures(): Change[] {
  return Object.entries(WHOLE_CAPTURES).flatMap(([history, events]) =>
    events.map((event) => ({ history, event, path: 'input[0].capture.amount', now: undefined, why: NAMED })),
  );
}

/** What the run that follows is told of a decline: with which card, and when. */
const DECLINED: readonly [history: string, event: number, token: string, at: number][] = [
  ['subscription-card-changed-when-past-due', 55, '628ee414-ab2d-4b2d-9b23-d0878bf418c8', 1_798_707_600_058],
  ['subscription-started-raw-declined-then-billed', 54, '4039b939-254b-48f8-8749-ead45475ff58', 1_796_547_600_060],
  ['subscription-unpaid-goes-on', 36, '822ae16d-90b0-45ce-98ac-a0592485c87c', 1_799_398_800_045],
];

/** The histories stay as they were recorded: running flows of that age must go on. */
export const CHANGES: readonly Change[] = [
  ...wholeCaptures(),
  ...[48, 49].map((event) => ({
    history: 'store-card-declined',
    event,
    path: 'result.retryable',
    now: 'newCard',
    why: 'A card whose first card-on-file transaction was declined must not be used again.',
  })),
  ...DECLINED.map(([history, event, token, at]) => ({
    history,
    event,
    path: 'input[1].declinedTries',
    now: [{ token, at }],
    why: 'A declined card is tried 15 times in 30 days at most, over all periods.',
  })),
];

/** Of every history alike. What a worker tells of itself while it reads does not bind a flow that is under way. */
export const CHANGED_EVERYWHERE: readonly (Pick<Change, 'path' | 'now' | 'why'> & { before?: Plain })[] = [
  { path: 'heartbeatTimeout', now: 10_000, why: 'A read that was lost with its worker is made again within seconds.' },
  { path: 'startToCloseTimeout', before: 20_000, now: 300_000, why: 'A look-up may read the histories of years.' },
];
