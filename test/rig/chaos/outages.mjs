import { setTimeout as sleep } from 'node:timers/promises';
import { fillDisk, freeDisk } from '../disks.mjs';
import { kill } from '../killing.mjs';

/** Longer than the 10 s after which a call and a worker's poll are given up, and a worker counts as dead. */
const CUT_OFF_MS = 15_000;
const FULL_MS = 10_000;
/** Of the log, made ahead at most. */
const MOST_FILES = 100;
const WITHIN_MS = 120_000;
const LOOK_MS = 250;

/**
 * What fails while flows are under way, in this order. `act` resolves once the cause is over, not when all is healthy.
 * A kill is one of processes, not a power cut: what they wrote stays in the page cache.
 */
export function outagesOf(context) {
  const { rig } = context;
  const [postgres] = context.containersOf(['postgres']);
  const [temporal] = context.containersOf(['temporal']);
  const workers = context.containersOf(['worker']);
  const cutOff = async (...containers) => {
    const heal = await rig.network.partition(...containers.map(({ end }) => end));
    await sleep(CUT_OFF_MS).finally(heal);
    return `${CUT_OFF_MS / 1_000} s`;
  };
  return [
    { name: 'PostgreSQL is restarted', act: () => restart(postgres) },
    { name: 'kill -9 of PostgreSQL', act: () => kill(rig, [postgres]) },
    { name: 'the workers do not reach Temporal', act: () => cutOff(...workers, temporal) },
    { name: 'Temporal does not reach PostgreSQL', act: () => cutOff(temporal, postgres) },
    { name: 'the workers are restarted one after the other', act: () => restartInTurn(rig, workers) },
    { name: 'kill -9 of both workers and Temporal', act: () => kill(rig, [...workers, temporal]) },
    { name: 'the disk of PostgreSQL is full, and then has room again', act: () => full(rig, postgres) },
  ];
}

/** As `docker compose restart` does. */
async function restart(container) {
  await container.stop();
  const { ms, code, said } = container.lastStop;
  if (code !== 0) throw new Error(`${container.name} ended with ${code}:\n${said}`);
  container.start();
  return `${container.name} took ${(ms / 1_000).toFixed(1)} s to stop`;
}

/** As a rolling deployment does: the next one once the one before serves. */
async function restartInTurn(rig, containers) {
  const notes = [];
  for (const container of containers) {
    notes.push(await restart(container));
    await rig.healthy(WITHIN_MS);
  }
  return notes.join(', ');
}

/**
 * First no table can grow. Then the log can't either: the server ends, and the engine starts it again and again until there is
 * room. The log has room left in files that are made ahead, so they are used up.
 */
async function full(rig, postgres) {
  const complaints = () =>
    postgres
      .tail(Infinity)
      .split('\n')
      .filter((line) => line.includes('No space left on device'));
  const { starts } = postgres;
  const until = async (isSo) => {
    for (const begun = Date.now(); !isSo(); await sleep(LOOK_MS))
      if (Date.now() - begun > WITHIN_MS) throw new Error(`PostgreSQL has not noticed it:\n${postgres.tail()}`);
  };
  try {
    await fillDisk(rig.folder, 'postgres');
    await until(() => complaints().length > 0);
    await sleep(FULL_MS);
    const nextFile = ['psql', '-U', 'temporal', '-d', 'temporal', '-c', 'SELECT pg_switch_wal()'];
    for (let files = 0; files < MOST_FILES && postgres.starts === starts; files += 1)
      await postgres.exec(nextFile).catch(() => undefined);
    await until(() => postgres.starts > starts);
    await sleep(FULL_MS);
  } finally {
    freeDisk(rig.folder, 'postgres');
  }
  const said = complaints();
  const ended = said.filter((line) => /PANIC|FATAL/.test(line)).length;
  return `${said.length} complaints, ${ended} of them fatal; started again ${postgres.starts - starts} times`;
}
