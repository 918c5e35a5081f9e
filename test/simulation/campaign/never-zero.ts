import { SIGNAL_NAMES, UPDATE_NAMES, WORKFLOW_TYPES } from '../../../src/contract/names.js';
import { FATES } from '../world/strategies.js';
import type { HeldBackBecause } from '../../../activities/bulkhead.js';
import type { Counts } from './counts.js';
import { DISTURBANCE_NAMES } from './disturbances.js';
import { SCENARIOS } from './scenarios.js';
import { FAULT_LABELS } from './service-faults.js';
import { UNITS, WITHOUT_READS } from './units.js';

/**
 * From so many flows on each of these must have happened, whatever the seed: a thousand have six worlds, which all may be
 * without faults of the service, and two subscriptions that are never paid. Of the seed of the tests a thousand suffice.
 */
export const ENOUGH_FLOWS = 5_000;

const ENDINGS = [
  'succeeded',
  'declined',
  'captured',
  'voided',
  'stored',
  'consentedNotStored',
  'approve',
  'decline',
  'terminated',
] as const;
const CRASH_POINTS = ['POST', 'GET'].flatMap((method) =>
  ['request under way', 'reply under way'].map((when) => ({ method, when })),
);

const HELD_BACK: readonly HeldBackBecause[] = ['half of the places', 'Retry-After', 'circuit open', 'calls per second'];

/** One sentence for each type, fault, message, ending and crash point that has never occurred. */
export function neverOccurred(counts: Counts): string[] {
  const flows = Object.values(counts.plain()['flow type'] ?? {}).reduce((sum, times) => sum + times, 0);
  const wanted: readonly (readonly [kind: string, names: readonly string[]])[] = [
    ['flow type', Object.values(WORKFLOW_TYPES)],
    ['scenario', SCENARIOS.map(({ name }) => name)],
    ['disturbance', DISTURBANCE_NAMES],
    ['fault', [...FAULT_LABELS, 'worker killed', 'worker replaced']],
    ['network', FATES.map((fate) => `${fate}: worker to sandbox.test`)],
    ['network', FATES.map((fate) => `${fate}: service to webhook.test`)],
    [
      'message',
      [
        ...Object.values(SIGNAL_NAMES).map((name) => `signal ${name}`),
        ...Object.values(UPDATE_NAMES).map((name) => `update ${name}`),
        'cancel',
        'query status',
        'query explain',
      ],
    ],
    ['ending', ENDINGS],
    ['profile', (flows >= ENOUGH_FLOWS ? UNITS : WITHOUT_READS).map(({ name }) => name)],
    ['subscription ending', ['completed', 'cancelled', ...(flows >= ENOUGH_FLOWS ? ['givenUp'] : [])]],
    ['held back', flows >= ENOUGH_FLOWS ? HELD_BACK : HELD_BACK.slice(0, 1)],
    ['currency', ['USD', 'EUR', 'JPY', 'KWD']],
  ];
  const missing = wanted.flatMap(([kind, names]) =>
    names.filter((name) => counts.of(kind, name) === 0).map((name) => `${kind} "${name}" has never occurred`),
  );
  const points = Object.keys(counts.plain()['crash point'] ?? {});
  const crashes = [
    ...CRASH_POINTS.map(({ method, when }) => ({
      name: `${method}: ${when}`,
      fits: (point: string) => point.startsWith(method) && point.endsWith(when),
    })),
    { name: 'an activity under way', fits: (point: string) => point.startsWith('activity ') },
    { name: 'a task under way', fits: (point: string) => point.startsWith('task of ') },
    { name: 'the answer to a task lost', fits: (point: string) => point.startsWith('answer to a task') },
  ];
  return [
    ...missing,
    ...crashes.filter(({ fits }) => !points.some(fits)).map(({ name }) => `crash point "${name}" has never occurred`),
  ];
}
