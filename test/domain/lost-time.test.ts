import { describe, expect, test } from 'vitest';
import { doubtUntil, lostKeysUntil, parseLostTime, showLostTime } from '../../src/domain/lost-time.js';

const NOW = Date.parse('2027-01-31T12:00:00Z');
const HOUR = 3_600_000;

describe('the lost time of a restore', () => {
  test('is two instants, with Z or an offset, and is shown in UTC', () => {
    const parsed = parseLostTime('2027-01-31T10:00:00.5+01:00, 2027-01-31T10:04:00Z', NOW);
    expect(parsed).toEqual({
      lost: { from: Date.parse('2027-01-31T09:00:00.5Z'), until: Date.parse('2027-01-31T10:04:00Z') },
    });
    expect('lost' in parsed && showLostTime(parsed.lost)).toBe('2027-01-31T09:00:00.500Z,2027-01-31T10:04:00.000Z');
  });

  test.each([
    ['', ['use two instants']],
    ['2027-01-31T09:00:00Z', ['use two instants']],
    ['2027-01-31T09:00:00Z,2027-01-31T10:00:00Z,2027-01-31T11:00:00Z', ['use two instants']],
    ['2027-01-31T09:00:00,yesterday', ['<from> is "2027-01-31T09:00:00"', '<until> is "yesterday"']],
    ['2027-02-30T09:00:00Z,2027-01-31T10:00:00Z', ['<from> is "2027-02-30T09:00:00Z"']],
    ['2027-01-31T10:00:00Z,2027-01-31T10:00:00Z', ['<from> must be before <until>']],
    ['2027-01-31T14:00:00Z,2027-01-31T13:00:00Z', ['<from> must be before <until>', '<until> is still to come']],
    ['2027-01-31T09:00:00Z,2027-01-31T12:11:00Z', ['<until> is still to come']],
  ])('%j is refused with every fault', (text, faults) => {
    const parsed = parseLostTime(text, NOW);
    expect('faults' in parsed && parsed.faults).toEqual(faults.map((fault) => expect.stringContaining(fault)));
  });

  test('may end a few minutes from now, since clocks differ', () => {
    expect(parseLostTime('2027-01-31T09:00:00Z,2027-01-31T12:10:00Z', NOW)).toHaveProperty('lost');
  });

  test('bounds what may be sent by its beginning, and what may be unknown by its end', () => {
    const lost = { from: NOW, until: NOW + HOUR };
    expect(lostKeysUntil(lost)).toBe(NOW + 20 * HOUR);
    expect(doubtUntil(lost)).toBe(NOW + 25 * HOUR);
  });
});
