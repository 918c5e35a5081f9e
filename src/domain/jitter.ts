import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { endOfLocalDay } from './local-time.js';

/** Where a subscription stands in every spread: 0 to just below 1, the same for ever. */
export function fractionOf(reference: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = sha256(utf8ToBytes(reference));
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}

/**
 * Moves a due time by up to `maxMs` so that bills of the same minute don't leave at once. Never past the local
 * day, however late in it the time is.
 */
export function spread(dueAt: number, maxMs: number, fraction: number, timeZone: string): number {
  if (maxMs <= 0) return dueAt;
  const room = Math.min(maxMs, endOfLocalDay(dueAt, timeZone) - dueAt);
  return dueAt + Math.floor(fraction * room);
}
