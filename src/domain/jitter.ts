import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { endOfLocalDay } from './local-time.js';

/** Position of a subscription in every spread: 0 to just below 1, never changes. */
export function fractionOf(reference: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = sha256(utf8ToBytes(reference));
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}

/**
 * Delays a due time by up to `maxMs`, so that bills of the same minute aren't all sent at once. Never beyond the local
 * day, however late in the day it is due.
 */
export function spread(dueAt: number, maxMs: number, fraction: number, timeZone: string): number {
  if (maxMs <= 0) return dueAt;
  const room = Math.min(maxMs, endOfLocalDay(dueAt, timeZone) - dueAt);
  return dueAt + Math.floor(fraction * room);
}
