import { statSync } from 'node:fs';

/** Longest first; what is begun last would else be waited for alone. Their sizes don't tell: most of it is waiting. */
const LONG = [
  'guarantees/mixed-storm',
  'guarantees/one-period-is-billed-once',
  'replay/replay',
  'workflows/store-card',
  'guarantees/unknown-is-a-state',
  'guarantees/every-crash-point',
  'scripts/start',
  'guarantees/events-in-any-order-through-any-outage',
  'guarantees/webhook-acknowledged-once-durable',
  'guarantees/no-card-data-in-histories',
  'guarantees/keys-expire-before-we-stop-being-careful',
  'workflows/risk',
  'guarantees/a-late-refusal-is-not-believed',
  'guarantees/money-moves-at-most-once',
  'time/store-card',
  'time/subscription-commands',
  'sandbox/fuzz',
  'workflows/subscription',
  'docs/raw-starts',
  'boundaries/workflow-bundle',
];

/** In which order jest takes the files: the same on every machine, whatever it remembers of earlier runs. */
export default class LongestFirst {
  sort(tests) {
    const rank = ({ path }) => {
      const place = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? LONG.length : place;
    };
    const sizes = new Map(tests.map((test) => [test, statSync(test.path).size]));
    return tests.toSorted((a, b) => rank(a) - rank(b) || sizes.get(b) - sizes.get(a));
  }

  cacheResults() {}

  allFailedTests(tests) {
    return tests;
  }
}
