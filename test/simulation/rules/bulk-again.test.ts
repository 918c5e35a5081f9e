import { expect, test } from 'vitest';
import { MINUTE, SECOND, sharedTime } from './context.js';
import { bulking, only } from './bulking.js';

const time = sharedTime({ billing: true }, { bulkSlice: 2 });
const { begin, ended, newName, results, run, subscribed } = bulking(time);

test('a bulk under the name of one that is forgotten acts anew: subscriptions know longer what they did then', async () => {
  const flows = await subscribed(2);
  const [first] = flows;
  // As long as a name may be.
  const name = newName().padEnd(64, 'x');
  await begin(['pause'], name, ...only(flows));
  expect(await ended(name)).toMatchObject({ done: 2 });
  await first?.command('resume', { commandId: 'by-hand' });
  time.simulation.engine.forget(`bulk-${name}`);
  await begin(['pause'], name, ...only(flows));
  expect(await ended(name)).toMatchObject({ done: 1, refused: 1 });
  expect(await first?.status()).toMatchObject({ status: 'paused' });
});

test('a bulk that was stopped while its worker was gone says whom it may have reached, and goes on with all of them', async () => {
  const flows = await subscribed(2);
  const name = newName();
  const words = [['pause'], name, ...only(flows), '--rate', '1'] as const;
  await begin(...words);
  await time.passUntil((await time.now()) + SECOND / 2);
  for (const worker of time.simulation.workers) worker.kill();
  await run('stop', name);
  await time.passUntil((await time.now()) + 5 * MINUTE);
  await time.startWorker();
  await expect(ended(name)).rejects.toThrow();
  expect((await results(name)).length).toBeLessThan(2);
  const unknown = /^The first subscriptions, up to 1000, were being asked when a run ended early.*\n$/;
  for (const verb of ['status', 'results']) expect((await run(verb, name)).err).toMatch(unknown);
  await begin(...words);
  expect(await ended(name)).toMatchObject({ done: 2, refused: 0 });
  expect(await results(name)).toHaveLength(2);
  expect((await run('status', name)).err).toBe('');
});

test('a bulk that is being stopped, or has ended, is not called under way, and one that has ended is not stopped', async () => {
  const flows = await subscribed(3);
  const name = newName();
  const words = [['pause'], name, ...only(flows), '--rate', '1', '--why', 'the strike is under way'] as const;
  await begin(...words);
  await time.passUntil((await time.now()) + SECOND / 2);
  await run('stop', name);
  await expect(begin(...words)).rejects.toThrow(/is being stopped. Start it again once it has ended/);
  await expect(ended(name)).rejects.toThrow();
  expect((await run('status', name)).out).toMatch(/ \(the strike is under way\), was stopped: \d done/);
  await expect(run('stop', name)).rejects.toThrow(`Nothing was stopped: bulk-${name} was stopped.`);
  await begin(...words);
  expect(await ended(name)).toMatchObject({ done: 3 });
  await expect(run('stop', name)).rejects.toThrow(`Nothing was stopped: bulk-${name} is over.`);
});
