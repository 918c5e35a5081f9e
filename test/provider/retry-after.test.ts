import { describe, expect, test } from 'vitest';
import { retryAfterMs } from '../../src/provider/http/answers.js';

const NOW = Date.UTC(2026, 10, 21, 7, 0, 0);

describe('Retry-After', () => {
  test.each([
    ['seconds', '120', undefined, 120_000],
    ['no wait', '0', undefined, 0],
    ['an hour', '3600', undefined, 3_600_000],
    ['more than an hour as one', '86400', undefined, 3_600_000],
    ['a date beyond it as one', 'Sun, 21 Nov 2027 07:00:00 GMT', undefined, 3_600_000],
    ['surrounding blanks', ' 7 ', undefined, 7000],
    ['an HTTP date', 'Sat, 21 Nov 2026 07:00:30 GMT', undefined, 30_000],
    ['the RFC 850 form', 'Saturday, 21-Nov-26 07:00:30 GMT', undefined, 30_000],
    ['the asctime form', 'Sat Nov 21 07:00:30 2026', undefined, 30_000],
    ['a date that has passed', 'Sat, 21 Nov 2026 06:00:00 GMT', undefined, 0],
    ['a clock an hour ahead of ours', 'Sat, 21 Nov 2026 08:00:30 GMT', 'Sat, 21 Nov 2026 08:00:00 GMT', 30_000],
    ['a clock an hour behind ours', 'Sat, 21 Nov 2026 06:00:30 GMT', 'Sat, 21 Nov 2026 06:00:00 GMT', 30_000],
    ['a date that its own clock has passed', 'Sat, 21 Nov 2026 08:00:00 GMT', 'Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['seconds, whatever the clock says', '5', 'Sat, 21 Nov 2026 09:00:00 GMT', 5_000],
    ['an unreadable Date beside it', 'Sat, 21 Nov 2026 07:00:30 GMT', 'today', 30_000],
  ])('%s is understood', (_name, header, date, expected) => {
    expect(retryAfterMs(header, date, NOW)).toBe(expected);
  });

  test.each([
    undefined,
    '',
    'soon',
    '-5',
    '1.5',
    '99999999999',
    'Sat, 99 Nov 2026 99:99:99 GMT',
    '2026-11-21T07:00:00Z',
  ])('%j says nothing', (header) => {
    expect(retryAfterMs(header, undefined, NOW)).toBeUndefined();
  });
});
