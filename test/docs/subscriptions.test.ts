import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UPDATE_NAMES } from '../../src/contract/names.js';

const PAGE = readFileSync(new URL('../../docs/subscriptions.md', import.meta.url), 'utf8');

describe('the page on subscriptions', () => {
  test('names every command and the limits before anything else', () => {
    const { pause, resume, changeCard, changePlan, billNow, refundPeriod, cancel, settleManually } = UPDATE_NAMES;
    for (const name of [pause, resume, changeCard, changePlan, billNow, refundPeriod, cancel, settleManually]) {
      expect(PAGE).toMatch(new RegExp(`^\\| \`${name}\``, 'm'));
    }
    expect(/^## (.*)$/m.exec(PAGE)?.[1]).toBe('Limits');
  });
});
