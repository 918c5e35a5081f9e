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

/** The histories stay as they were recorded: running flows of that age must go on. */
export const CHANGES: readonly Change[] = [
  {
    history: 'subscription-paused-then-resumed',
    event: 42,
    path: 'input[1].resumeWith',
    now: undefined,
    why: 'The policy of a pause is for what came due in it: once that is judged, the next run need not know it.',
  },
  ...['scheduleToCloseTimeout', 'scheduleToStartTimeout'].map((path) => ({
    history: 'subscription-refunded-and-billed-now',
    event: 13,
    path,
    now: 120_000,
    why: 'No bill leaves while a refund is asked for, so that is given up after two minutes.',
  })),
  {
    history: 'subscription-refunded-and-billed-now',
    event: 41,
    path: 'input[1].refunding',
    now: [{ commandId: 'back', payment: 'club-d35e1f7b-a921.1.1', request: '[["amount",5000]]' }],
    why: 'The next run knows which refunds have been asked for, so that none is taken for another.',
  },
  {
    history: 'subscription-reset-joins-its-payment',
    event: 33,
    path: 'input[1].afterReset',
    now: true,
    why: 'A run after a reset refuses what it may have answered before, and so must those that follow it.',
  },
];
