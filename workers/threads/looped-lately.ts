import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../src/security/logging.js';

const FILE = 'endless-loop';
/** ms */
const LATELY = 60 * 60_000;

/**
 * True if a worker process with this state folder has met an endless loop within the last hour: a deploy may have one for
 * each new flow, and each would end a process.
 */
export function hasLoopedLately(stateDir: string): boolean {
  const { mtimeMs } = statSync(join(stateDir, FILE), { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return Date.now() - mtimeMs < LATELY;
}

/** For the process that follows this one. A folder that can't be written must not keep this one from ending in order. */
export function noteLoop(stateDir: string, logger: Logger): void {
  try {
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(join(stateDir, FILE), new Date().toISOString());
  } catch (err) {
    logger.error({ err }, 'The next process can not be told of the endless loop');
  }
}
