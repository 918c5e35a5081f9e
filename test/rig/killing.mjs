import { setTimeout as sleep } from 'node:timers/promises';

const WITHIN_MS = 120_000;

/** Kills the first process of each container, and waits until all are started again and healthy. */
export async function kill(rig, containers) {
  const starts = containers.map((one) => one.starts);
  await Promise.all(containers.map((one) => one.signal('SIGKILL')));
  const begun = Date.now();
  while (containers.some((one, at) => one.starts === starts[at])) {
    if (Date.now() - begun > WITHIN_MS) throw new Error('it was not started again');
    await sleep(100);
  }
  await rig.healthy(WITHIN_MS);
}
