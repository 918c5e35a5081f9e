import { createHash } from 'node:crypto';
import { verifyNotification, type VerifiedNotification } from '../../../src/client/verify-notification.js';
import type { NotifySettings } from '../../../src/security/notify-settings.js';
import type { Simulation } from '../simulation.js';
import { Seeded } from '../world/seeded.js';
import { KNOWN_UNITS } from './units.js';

const ORIGIN = 'http://merchant.test';
/** As far as the clocks of worker and service are from the engine's, and as long as a request may be under way. */
const TOLERANCE_SECONDS = 7_200;

/** Each unit has an address and a secret of its own. */
const pathOf = (unit: string): string => `/hook/${unit}`;
const secretOf = (unit: string): string => `whsec_${createHash('sha256').update(unit).digest('base64')}`;

/** Of the first batch and a few others: the merchants of all units are told of every flow. */
export function toldIn({ seed, first }: { seed: string; first: number }): { telling?: NotifySettings } {
  if (first > 0 && !new Seeded(`${seed}/${first}/told`).chance(0.1)) return {};
  const units = new Map(
    KNOWN_UNITS.map(({ name }) => {
      const secrets = [secretOf(name)];
      return [name, { endpoints: [{ url: `${ORIGIN}${pathOf(name)}`, secrets }], secrets }];
    }),
  );
  return { telling: { units, hosts: [], overHttp: true, toPrivate: true } };
}

/** What the merchants were sent, whether they took it or not, and what is wrong with a single one. */
export interface ToldMerchants {
  readonly told: VerifiedNotification[];
  readonly violations: string[];
}

/** The merchants' address: it takes most of what it is sent, is away now and then, and refuses some. */
export function attachMerchant({ world }: Simulation, seed: string): ToldMerchants {
  const random = new Seeded(`${seed}/merchant`);
  const merchants: ToldMerchants = { told: [], violations: [] };
  world.network.attach(ORIGIN, async ({ path, headers, body = Buffer.alloc(0) }) => {
    try {
      const unit = path.slice(pathOf('').length);
      const told = verifyNotification(
        { headers, body },
        { secrets: secretOf(unit), toleranceSeconds: TOLERANCE_SECONDS },
      );
      merchants.told.push(told);
      if (told.businessUnit !== unit)
        merchants.violations.push(`${told.workflowId}: unit ${told.businessUnit} is told at the address of ${unit}`);
    } catch (error) {
      merchants.violations.push(`${body.toString()}: the merchant can't take it: ${String(error)}`);
    }
    return {
      status: random.pick([200, 200, 200, 200, 503, 422, 410]),
      headers: {},
      body: Buffer.alloc(0),
    };
  });
  return merchants;
}
