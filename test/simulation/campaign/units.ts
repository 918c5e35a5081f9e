import {
  HOSTILE_UNITS,
  offersNoReads,
  PLAIN_UNIT,
  readsLag,
  type ProfileUnit,
  unitsOf,
} from '../../../tools/stack/profile-units.js';
import { Seeded } from '../world/seeded.js';

/** Every credit and refund is asked about, and those in this currency wait for another person. */
export const LIMITED_CURRENCY = 'CHF';

/**
 * Services with only what their interface names. Of one the unit's setting says so; of the other nobody has said it, and the
 * flows find it out by reads that are refused for a quarter of an hour.
 */
export const WITHOUT_READS: readonly ProfileUnit[] = HOSTILE_UNITS.filter(offersNoReads).flatMap((unit) => [
  unit,
  unsaid(unit),
  severalUnread(unit),
]);
/** Nothing refuses a second charge there, and little says what the first has done. */
const SEVERAL_AT_ONCE: ProfileUnit = {
  ...twin(PLAIN_UNIT, 'several-at-once'),
  profile: {
    key_scope: 'unit',
    same_key_in_flight: 'conflict',
    second_charge: 'allowed',
    list_lag_ms: 30_000,
    echo_reconciliation_id: false,
    replay_network_errors: true,
  },
};
const WITH_READS: readonly ProfileUnit[] = [...unitsOf('all'), SEVERAL_AT_ONCE];
/** All others, and these. */
const ONE_WAY: readonly ProfileUnit[] = [...WITH_READS, ...WITHOUT_READS];
/** For `--unit` alone. */
const BY_NAME: readonly ProfileUnit[] = HOSTILE_UNITS.filter(readsLag);
/** Each in both ways of the service with a key that comes again on `POST /payments`. */
export const UNITS: readonly ProfileUnit[] = ONE_WAY.flatMap((unit) => [unit, ...updating(unit)]).map(limited);
/** All that a flow can be sent to. */
export const KNOWN_UNITS: readonly ProfileUnit[] = [...UNITS, ...BY_NAME.map(limited)];
/** Every so many courses of events one meets such a service; it has no divisor in common with the number of courses. */
const TURN_WITHOUT_READS = 13;

/**
 * The unit of a course of events.
 * @param random of this course alone
 * @throws TypeError where there is no unit of the name that all are to have
 */
export function unitFor(
  number: number,
  { seed, unit: only }: { seed: string; unit?: string | undefined },
  random: Seeded,
): ProfileUnit {
  const picked = random.pick(WITH_READS);
  if (only !== undefined) {
    const chosen = KNOWN_UNITS.find(({ name }) => name === only);
    if (chosen !== undefined) return chosen;
    throw new TypeError(
      `--unit ${only}: there is no such unit; use one of ${KNOWN_UNITS.map(({ name }) => name).join(', ')}`,
    );
  }
  const at = number + new Seeded(`${seed}/units`).int(0, TURN_WITHOUT_READS - 1);
  const blind = WITHOUT_READS[Math.floor(at / TURN_WITHOUT_READS) % WITHOUT_READS.length];
  const unit = at % TURN_WITHOUT_READS === 0 ? (blind ?? picked) : picked;
  return limited(new Seeded(`${seed}/units/${number}`).pick([unit, ...updating(unit)]));
}

/** The same service, which takes a repeated `POST /payments` for an update; none where it does so anyway. */
function updating(unit: ProfileUnit): ProfileUnit[] {
  if (unit.profile.repeated_payment !== undefined) return [];
  return [{ ...twin(unit, 'updating'), profile: { ...unit.profile, repeated_payment: 'updates' } }];
}

/** Nothing refuses a second charge there, and nothing shows the first. */
function severalUnread(unit: ProfileUnit): ProfileUnit {
  const several = {
    key_scope: 'unit',
    same_key_in_flight: 'conflict',
    second_charge: 'allowed',
    replay_network_errors: true,
    reading: 'interface',
  } as const;
  return { ...twin(unit, 'several'), profile: { ...unit.profile, ...several } };
}

function unsaid({ reads: _reads, ...unit }: ProfileUnit): ProfileUnit {
  return twin(unit, 'unsaid');
}

/** Under other credentials. */
function twin(unit: ProfileUnit, word: string): ProfileUnit {
  const own = (text: string): string => `${text}-${word}`;
  const { name, appId, privateKey, publicKey } = unit;
  return { ...unit, name: own(name), appId: own(appId), privateKey: own(privateKey), publicKey: own(publicKey) };
}

function limited(unit: ProfileUnit): ProfileUnit {
  return { ...unit, outgoing: { perCall: { [LIMITED_CURRENCY]: 1 }, perDay: { [LIMITED_CURRENCY]: 1_000_000 } } };
}
