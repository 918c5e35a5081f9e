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
  'authorize-capture-pending-then-webhook': [17],
  'authorize-capture-refused-then-voided': [17],
  'authorize-captured': [17],
  'authorize-captured-after-lost-replies': [27],
  'authorize-captured-at-once': [10],
  'authorize-pending-then-webhook': [27],
  'authorize-reviewed-after-by-operator': [40],
  'authorize-risk-approved-after': [19],
};

const KEPT =
  'What becomes of a period without a payment is kept, and the days of bills where a change drops their plan.';
const missed = { period: 2, from: '2026-12-01', to: '2026-12-02', status: 'missed', at: '2026-12-02T11:00:00.029Z' };
const unpaid = {
  ...{ period: 1, from: '2026-11-30', to: '2026-12-01', status: 'unpaid', at: '2026-12-01T09:00:00.039Z' },
  ...{ amount: 6_000, attempts: 1, payment: 'club-6d13ab00-fb3b.1.1' },
};
const PAUSED = { history: 'subscription-paused-then-resumed', event: 38, why: KEPT };
const BILLS: readonly Change[] = [
  { ...PAUSED, path: 'input[1].billed[0].from', now: '2026-11-30' },
  { ...PAUSED, path: 'input[1].billed[0].to', now: '2026-12-01' },
  { ...PAUSED, path: 'input[1].unbilled', now: [missed] },
  { history: 'subscription-unpaid-goes-on', event: 41, path: 'input[1].unbilled', now: [unpaid], why: KEPT },
];

const CARDS = 'Cards that were declined for good are kept: given again after another one they are refused.';
const hardDeclined = (history: string, event: number, token: string): Change => ({
  history,
  event,
  path: 'input[1].hardDeclined',
  now: [token],
  why: CARDS,
});
const HARD_DECLINES: readonly Change[] = [
  hardDeclined('subscription-card-changed-when-past-due', 53, 'ddd20301-c77b-4423-8c8b-eb9c54d30d1b'),
  hardDeclined('subscription-unpaid-goes-on', 41, '917e3b9f-bd81-4c5a-97b0-9c6ae6f47c01'),
];

const GIVEN_UP = 'A bill that is given up by a cancel counts as unpaid.';
const CANCELLED: readonly Change[] = [43, 44].map((event) => ({
  history: 'subscription-cancelled-by-command',
  event,
  path: 'result.unpaidPeriods',
  now: 1,
  why: GIVEN_UP,
}));

const third = { period: 3, date: '2027-04-04', dueAt: '2027-04-04T08:00:00.000Z' };
const AHEAD =
  'What comes after a period that was billed early is known, and shown with its answer and by the next run.';
const EARLY: readonly Change[] = (
  [
    [37, 'result.nextBill', third],
    [38, 'input[1].answered[1].answer.nextBill', third],
    [38, 'searchAttributes.PaymentStatus', 'active'],
    [38, 'searchAttributes.WaitingFor', 'period'],
    [38, 'searchAttributes.DueAt', third.dueAt],
  ] as const
).map(([event, path, now]) => ({ history: 'subscription-refunded-and-billed-now', event, path, now, why: AHEAD }));

const GOES_ON = 'An event that is ignored does not begin the wait anew: the read comes when it was to come.';
const POLLS: readonly Change[] = [
  { history: 'authorize-capture-pending-then-webhook', event: 32, path: 'ms', now: 4_846, why: GOES_ON },
  { history: 'authorize-reviewed-after-by-operator', event: 26, path: 'ms', now: 4_853, why: GOES_ON },
  { history: 'authorize-void-pending-then-webhook', event: 32, path: 'ms', now: 4_842, why: GOES_ON },
];

/** The histories stay as they were recorded: running flows of that age must go on. */
export const CHANGES: readonly Change[] = [
  ...Object.entries(WHOLE_CAPTURES).flatMap(([history, events]) =>
    events.map((event) => ({ history, event, path: 'input[0].capture.amount', now: undefined, why: NAMED })),
  ),
  ...BILLS,
  ...HARD_DECLINES,
  ...CANCELLED,
  ...EARLY,
  ...POLLS,
];

/** The same for the histories of releases, whose names are those of golden ones. */
export const RELEASE_CHANGES: readonly (Change & { release: string })[] = [];

/** Of every history alike. What a worker tells of itself while it reads does not bind a flow that is under way. */
export const CHANGED_EVERYWHERE: readonly (Pick<Change, 'path' | 'now' | 'why'> & {
  before?: Plain;
  /** Where each flow has a value of its own. */
  isNow?: (value: Plain | undefined) => boolean;
})[] = [
  {
    path: 'input[0].urgentFrom',
    now: undefined,
    isNow: (value) => value !== undefined,
    why: 'A worker counts a capture or void to the first class once its last hour has begun.',
  },
  { path: 'heartbeatTimeout', now: 10_000, why: 'A read that was lost with its worker is made again within seconds.' },
  { path: 'startToCloseTimeout', before: 20_000, now: 300_000, why: 'A look-up may read the histories of years.' },
  {
    path: 'input[0].businessUnit',
    now: 'default',
    why: 'The calendar says whether the unit has endpoints to be told, and how often it lets a declined card be tried.',
  },
  {
    path: 'input[0].afterReset',
    now: true,
    why: 'The calendar says whether a run that a reset has made asks: each run decides by its answer.',
  },
  ...['atDeadline', 'toReauthorize'].map((told) => ({
    path: `input[0].${told}`,
    now: true,
    why: 'A brake tells the capture of a deadline, and the void that makes room for a new authorization, from others.',
  })),
  ...['result', ...[0, 1, 2].map((at) => `input[1].answered[${at}].answer`)].map((answer) => ({
    path: `${answer}.undelivered`,
    before: 0,
    now: undefined,
    why: 'Notifications are sent, and counted, by a flow of their own.',
  })),
  ...['notices', 'givenUpNotices'].map((count) => ({
    path: `input[1].counts.${count}`,
    before: 0,
    now: undefined,
    why: 'Notifications are counted by a flow of their own.',
  })),
  {
    path: 'input[1].cardCaps',
    now: [
      { tries: 15, days: 30 },
      { tries: 10, days: 1 },
    ],
    why: 'The calendar says how often a declined card may be tried, and the next run is told it.',
  },
  { path: 'input[1].outbox', before: [], now: undefined, why: 'Carried as `telling`, and only where anybody is told.' },
];
