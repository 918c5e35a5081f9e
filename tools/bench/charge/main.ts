/**
 * Charges with the service's three events each, without events, and a naive charge of two activities, interleaved in
 * one run on one tuned dev server; then charges with events at services that are slow, whose first row is the same leg
 * at a service that is not. Medians.
 *
 * `--rounds` (5), `--charges` per leg (600), `--variants` (`events,no-events,naive`), `--services` (`0,800,5000,brown-out`:
 * ms that each POST takes; `none` leaves them out), `--slow-charges` (256, at concurrency 128).
 */
import { parseArgs } from 'node:util';
import type { SandboxControl } from '../../../sandbox/control.js';
import { billableActions } from '../support/billable-actions.js';
import { startBenchStack } from '../support/bench-stack.js';
import { slowDownPosts } from '../support/payments.js';
import { table } from '../support/stats.js';
import {
  CONCURRENCY,
  type Figures,
  type Load,
  measure,
  measureRound,
  medianOf,
  medianRound,
  openLoad,
  type Round,
  SEQUENTIAL,
  tasksRunAgain,
} from './load.js';
import { costHeader, costRow, ratio, SPEED_HEADER, speedRow } from './report.js';
import { type Variant, VARIANTS } from './variants.js';

const SLOW_CONCURRENCY = 128;
/** In a brown-out a fifth of the calls outlast the local limit of 10 s, and the others take two seconds. */
const BROWN_OUT = { often: 2_000, seldom: 9_000, share: 0.2 };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    charges: { type: 'string', default: '600' },
    'slow-charges': { type: 'string', default: '256' },
    variants: { type: 'string', default: VARIANTS.join() },
    services: { type: 'string', default: '0,800,5000,brown-out' },
  },
});
const [rounds, charges, slowCharges] = [values.rounds, values.charges, values['slow-charges']].map(Number);
const variants = VARIANTS.filter((variant) => values.variants.split(',').includes(variant));
const services = values.services === 'none' ? [] : values.services.split(',');
const stack = await startBenchStack(VARIANTS);
const loads = new Map<Variant, Load>();
try {
  for (const variant of variants) loads.set(variant, await openLoad(stack, variant));
  await measureVariants();
  const events = loads.get('events');
  if (events !== undefined && services.length > 0) await measureServices(events);
} finally {
  await stack.stop();
}

async function measureVariants(): Promise<void> {
  const measured = new Map<Variant, Round[]>(variants.map((variant) => [variant, []]));
  for (let round = 0; round < (rounds ?? 0); round += 1) {
    for (const [variant, load] of loads) measured.get(variant)?.push(await measureRound(load, charges ?? 0, round));
  }
  const cells = new Map([...measured].map(([variant, of]) => [variant, medianRound(of)]));
  const base = cells.get('naive') ?? cells.get('no-events');
  const speed = [SPEED_HEADER];
  const cost = [costHeader()];
  const shape = [['one charge', 'events', 'billable actions', 'tasks run again', 'worker MB']];
  for (const [variant, round] of cells) {
    speed.push(speedRow(variant, round, base));
    cost.push(costRow(variant, round.together));
    const load = loads.get(variant);
    if (load !== undefined) shape.push([variant, ...(await shapeOf(variant, load))]);
  }
  console.log(`Medians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY} and`);
  console.log(`${SEQUENTIAL} one after the other. A leg ends with the acknowledgement of its last event.`);
  console.log(`x: of ${cells.has('naive') ? 'naive' : 'no-events'}.\n`);
  for (const rows of [speed, cost, shape]) console.log(`${table(rows)}\n`);
}

async function shapeOf(variant: Variant, load: Load): Promise<string[]> {
  const workflowId = `${variant === 'naive' ? '' : 'payment-'}${variant}-s0-1`;
  const { events = [] } = await load.client.workflow.getHandle(workflowId).fetchHistory();
  const { charges: all, again } = await tasksRunAgain(load.client);
  const runAgain = variant === 'naive' ? '-' : `${again} of ${all} charges`;
  return [String(events?.length), String(billableActions(events ?? [])), runAgain, String(load.workerMb())];
}

async function measureServices(load: Load): Promise<void> {
  const measured = new Map<string, Figures[]>(services.map((service) => [service, []]));
  const again = new Map<string, number>(services.map((service) => [service, 0]));
  for (let round = 0; round < (rounds ?? 0); round += 1) {
    for (const service of services) {
      const before = await tasksRunAgain(load.client);
      await slowDown(load.sandbox, service);
      measured.get(service)?.push(await measure(load, slowCharges ?? 0, SLOW_CONCURRENCY, `slow${service}-${round}`));
      await load.sandbox.clearFaults();
      const after = await tasksRunAgain(load.client);
      again.set(service, (again.get(service) ?? 0) + after.again - before.again);
    }
  }
  const base = medianOf(measured.get(services[0] ?? '') ?? []);
  const speed = [['a POST takes', 'per s', 'x', 'p50 ms', 'p99 ms', 'tasks run again']];
  const cost = [costHeader()];
  for (const [service, legs] of measured) {
    const own = medianOf(legs);
    const name = service === 'brown-out' ? service : `${service} ms`;
    const { perSecond, p50, p99 } = own;
    const ran = `${again.get(service)} of ${legs.length * (slowCharges ?? 0)} charges`;
    speed.push([name, perSecond.toFixed(1), ratio(perSecond, base.perSecond), p50.toFixed(0), p99.toFixed(0), ran]);
    cost.push(costRow(name, own));
  }
  const { often, seldom, share } = BROWN_OUT;
  console.log(`The same with events at concurrency ${SLOW_CONCURRENCY}, ${slowCharges} charges a leg; in a brown-out`);
  console.log(`a POST takes ${often} ms, and ${share * 100} % of them ${seldom + often} ms. x: of the first row.\n`);
  for (const rows of [speed, cost]) console.log(`${table(rows)}\n`);
}

async function slowDown(sandbox: SandboxControl, service: string): Promise<void> {
  if (service !== 'brown-out') return await slowDownPosts(sandbox, Number(service));
  await slowDownPosts(sandbox, BROWN_OUT.seldom, BROWN_OUT.share);
  await slowDownPosts(sandbox, BROWN_OUT.often);
}
