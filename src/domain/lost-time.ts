import { z } from 'zod';
import { HOUR_MS } from '../contract/time-units.js';
import { CLOCKS_DIFFER_MS } from './sent-before.js';
import { show } from '../contract/fields.js';
import { KEY_WINDOW_MS } from './schedules.js';

/**
 * The time that a restore from a backup has lost: what flows did then, the engine has forgotten, and the payment service
 * has not. Epoch ms. `from`: the moment of the backup. `until`: when the last process had stopped.
 */
export interface LostTime {
  readonly from: number;
  readonly until: number;
}

const instant = z.iso.datetime({ offset: true });

/**
 * Parses `<from>,<until>`, two instants with Z or an offset.
 * @param now epoch ms; nothing that is still to come was lost
 * @returns every fault
 */
export function parseLostTime(text: string, now: number): { lost: LostTime } | { faults: string[] } {
  const parts = text.split(',').map((part) => part.trim());
  const [from = '', until = ''] = parts;
  if (parts.length !== 2) {
    return { faults: ['use two instants, <from>,<until>, such as 2027-01-31T09:00:00Z,2027-01-31T10:04:00Z'] };
  }
  const faults = parts.flatMap((part, index) =>
    instant.safeParse(part).success
      ? []
      : [`<${index === 0 ? 'from' : 'until'}> is ${show(part)}: use an instant with Z or an offset`],
  );
  if (faults.length > 0) return { faults };
  const lost = { from: Date.parse(from), until: Date.parse(until) };
  if (lost.from >= lost.until) faults.push('<from> must be before <until>');
  if (lost.until > now + CLOCKS_DIFFER_MS) faults.push('<until> is still to come');
  return faults.length > 0 ? { faults } : { lost };
}

export function showLostTime({ from, until }: LostTime): string {
  return [from, until].map((at) => new Date(at).toISOString()).join(',');
}

/**
 * Epoch ms until which what was sent in the lost time may be sent again under its key: the oldest such key is as old as
 * the backup (money rule 4).
 */
export function lostKeysUntil({ from }: LostTime): number {
  return from + KEY_WINDOW_MS;
}

/**
 * Epoch ms. A flow that started before this may have done more than its history tells: at this moment the service
 * forgets the last key of the lost time.
 */
export function doubtUntil({ until }: LostTime): number {
  return until + 24 * HOUR_MS;
}
