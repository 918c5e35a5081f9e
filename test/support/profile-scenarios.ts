import { namesNoFlow, type ProfileUnit } from '../../tools/stack/profile-units.js';
import type { ChargeOutcome } from '../../src/contract/charge.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { FaultInput } from '../../sandbox/control.js';
import { CARDS } from './charges.js';
import { fullOr } from './counts.js';

/** What one charge meets, and how it must end whatever the profile of its service. */
export interface ProfileScenario {
  readonly name: string;
  readonly card: string;
  /** Planted for this one charge. */
  faults(unit: ProfileUnit): readonly FaultInput[];
  readonly ends: ChargeOutcome['status'];
  /** Where only one way of knowing is left open. */
  knownBy?(unit: ProfileUnit): KnownBy | undefined;
}

const PAYMENTS = { method: 'POST', path: '/payments' } as const;
const CHARGES = { method: 'POST', path: '*/charges' } as const;
const UNREADABLE: FaultInput = { action: 'status', status: 503, method: 'GET' };

const plain = (name: string, card: string, ends: ChargeOutcome['status']): ProfileScenario => ({
  name,
  card,
  ends,
  faults: () => [],
});
const meeting = (name: string, ...faults: FaultInput[]): ProfileScenario => ({
  name,
  card: CARDS.succeeds,
  ends: 'succeeded',
  faults: () => faults,
});

/** The first attempt acted: what refuses the next ones proves nothing. */
const refusedLate = (status: number): ProfileScenario =>
  meeting(
    `is refused with ${status} ever after its first reply was lost`,
    { ...CHARGES, action: 'drop_reply', times: 1 },
    { ...CHARGES, action: 'status', status },
  );

const SCENARIOS: readonly ProfileScenario[] = [
  plain('succeeds', CARDS.succeeds, 'succeeded'),
  plain('is declined', CARDS.declines, 'declined'),
  plain('pends and then fails', CARDS.pendsThenFails, 'declined'),
  {
    name: 'pends where only an event can tell its end',
    card: CARDS.pendsThenSucceeds,
    ends: 'succeeded',
    faults: (unit) => (namesNoFlow(unit) ? [] : [UNREADABLE]),
    knownBy: (unit) => (namesNoFlow(unit) ? undefined : 'webhook'),
  },
  {
    name: 'pends while its every event is lost',
    card: CARDS.pendsThenSucceeds,
    ends: 'succeeded',
    faults: () => [{ action: 'lose_event' }],
    knownBy: () => 'poll',
  },
  meeting(
    'loses the replies to payment and charge after both were made',
    { ...PAYMENTS, action: 'drop_reply', times: 1 },
    { ...CHARGES, action: 'drop_reply', times: 1 },
  ),
  meeting(
    'meets 503, refused connections and garbage before anything is done',
    { ...PAYMENTS, action: 'garbage', times: 1 },
    { ...CHARGES, action: 'status', status: 503, times: 1 },
    { ...CHARGES, action: 'refuse', times: 1 },
  ),
  refusedLate(400),
  refusedLate(409),
  meeting(
    'is answered garbage after payment and charge were made',
    { ...PAYMENTS, action: 'garbage', after: true, times: 1 },
    { ...CHARGES, action: 'garbage', after: true, times: 1 },
  ),
  refusedLate(404),
];

/** At reduced counts without the last two, which differ little from others. */
export const PROFILE_SCENARIOS = SCENARIOS.slice(0, fullOr(SCENARIOS.length, -2));

/** Nothing was made and nothing will be, which takes more than an hour to prove. */
export const REFUSED_AFTER_SILENCE: readonly FaultInput[] = [
  { ...CHARGES, action: 'status', status: 503, times: 1 },
  { ...CHARGES, action: 'status', status: 400 },
];

/** Holds the call to the service for so long that its worker can be killed in its midst. */
export const SLOW_CHARGE: FaultInput = { ...CHARGES, action: 'delay', delay_ms: 1_500, times: 1 };
