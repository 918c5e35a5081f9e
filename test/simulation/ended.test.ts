import { expect, test } from 'vitest';
import { startSimulatedTime } from './simulated-time.js';

const TWO_HOURS = 7_200_000;

test('a question that an ended simulation never answered takes nothing of the time of the next one', async () => {
  const one = await startSimulatedTime({});
  const charge = await one.start(await one.input());
  await charge.outcome();
  for (const worker of one.simulation.workers) worker.kill();
  void charge.status().catch(() => undefined);
  await one.passUntil((await one.now()) + 1_000);
  await one.close();
  const next = await startSimulatedTime({});
  try {
    const until = (await next.now()) + TWO_HOURS;
    await next.passUntil(until);
    expect(await next.now()).toBeGreaterThanOrEqual(until);
  } finally {
    await next.close();
  }
});
