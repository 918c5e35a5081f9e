import { expect, test } from 'vitest';
import { CARDS, chargeInput } from '../support/charges.js';
import { createSimulation } from './simulation.js';
test('charge', async () => {
  const s = await createSimulation({ seed: 1 });
  s.startWorker();
  s.world.time.run();
  const input = await chargeInput(s.world.control, CARDS.succeeds);
  const out = await s.holdfast.charge(input).catch((e) => e);
  console.log(out);
  for (const run of s.engine.all())
    console.log(
      run.start.workflowId,
      run.status,
      run.events.map((e) => Object.keys(e).filter((k) => k.endsWith('Attributes'))[0]),
    );
  console.log(s.engine.findings);
  console.log(await s.world.control.ledger());
  const n = 200;
  const t1 = process.cpuUsage();
  for (let i = 0; i < n; i++) await s.holdfast.charge(await chargeInput(s.world.control, CARDS.succeeds));
  const d = process.cpuUsage(t1);
  console.log('ms per charge', (d.user + d.system) / 1000 / n, s.world.time.fired);
  await s.close();
  expect(out.status).toBe('succeeded');
}, 30000);
