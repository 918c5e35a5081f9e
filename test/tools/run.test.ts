import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { root, stackEnvironment, startScript } from './support.js';

/** Every server takes so long to close that further signals find it at that. */
const CLOSES_SLOWLY = `
  import { Server } from 'node:net';
  const { close } = Server.prototype;
  Server.prototype.close = function (done) {
    setTimeout(() => close.call(this, done), 500);
    return this;
  };`;

test('one Ctrl-C on npm run sandbox, which reaches it as several signals, lets it close what it has and end with 0', async () => {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(CLOSES_SLOWLY)}`;
  const env = stackEnvironment(temporaryFolder(), { NODE_OPTIONS });
  const running = startScript([join(root, 'tools', 'run.mjs'), 'sandbox'], env);
  await until(async () => running.output().includes('ready sandbox '), Boolean);
  // As a terminal sends it to the whole group, and npm to its child again.
  for (let times = 0; times < 3; times += 1) {
    process.kill(-(running.child.pid ?? 0), 'SIGINT');
    await sleep(50);
  }
  expect(await running.ended).toEqual({ code: 0, signal: null });
});
