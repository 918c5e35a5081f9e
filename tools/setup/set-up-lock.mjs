import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './progress.mjs';

const BEAT_MS = 5_000;
const STALE_MS = 60_000;

/**
 * Runs `work` while no other process of this machine holds the lock file.
 * Two set-ups in one folder would overwrite each other's packages and build. A holder loses the lock if it has died or
 * has not refreshed the lock for a minute.
 */
export async function withLock(path, work) {
  await acquire(path);
  const beat = setInterval(() => {
    try {
      const now = new Date();
      utimesSync(path, now, now);
    } catch {
      // Another process took over the stale lock. The work continues, because its results are written atomically.
    }
  }, BEAT_MS);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if (holderOf(path) === process.pid) rmSync(path, { force: true });
  }
}

async function acquire(path) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let isAnnounced = false;
  while (!tryLink(path)) {
    const holder = holderOf(path);
    if (holder !== undefined && isStale(path, holder)) {
      discardStale(path, holder);
      continue;
    }
    if (!isAnnounced && holder !== undefined) {
      say(`Waiting for another set-up in this folder (process ${holder}) ...`);
      isAnnounced = true;
    }
    await sleep(200);
  }
}

/** A hard link appears together with its content, so no reader sees a lock without a holder. */
function tryLink(path) {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}

function holderOf(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isStale(path, holder) {
  try {
    process.kill(holder, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return true;
  }
  try {
    return Date.now() - statSync(path).mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

function discardStale(path, holder) {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    // Another waiter may have replaced the stale lock between the read and the rename. Restore its lock then.
    if (holderOf(aside) !== holder) linkSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
