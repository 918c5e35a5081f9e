import { NOTIFY_SECRET } from '../../support/telling.js';
import type { NotifySettings } from '../../../src/security/notify-settings.js';
import type { Simulation } from '../simulation.js';
import { Seeded } from '../world/seeded.js';
import { UNITS } from './units.js';

const ORIGIN = 'http://merchant.test';

/** Of the first batch and a few others: the merchants of all units are told of every flow. */
export function toldIn({ seed, first }: { seed: string; first: number }): { telling?: NotifySettings } {
  if (first > 0 && !new Seeded(`${seed}/${first}/told`).chance(0.1)) return {};
  const unit = { endpoints: [{ url: `${ORIGIN}/hook`, secrets: [NOTIFY_SECRET] }], secrets: [NOTIFY_SECRET] };
  const units = new Map(UNITS.map(({ name }) => [name, unit]));
  return { telling: { units, hosts: [], overHttp: true, toPrivate: true } };
}

/** The merchants' address: it takes most of what it is sent, is away now and then, and refuses some. */
export function attachMerchant({ world }: Simulation, seed: string): void {
  const random = new Seeded(`${seed}/merchant`);
  world.network.attach(ORIGIN, async () => ({
    status: random.pick([200, 200, 200, 200, 503, 422, 410]),
    headers: {},
    body: Buffer.alloc(0),
  }));
}
