import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { HoldfastErrorType } from '../../src/client/errors.js';
import { FAILURE_TYPES, UPDATE_NAMES } from '../../src/contract/names.js';

const PAGE = readFileSync(new URL('../../docs/subscriptions.md', import.meta.url), 'utf8');

describe('the page on subscriptions', () => {
  test('names every command and the limits before anything else', () => {
    const { pause, resume, changeCard, changePlan, billNow, refundPeriod, cancel, settleManually } = UPDATE_NAMES;
    for (const name of [pause, resume, changeCard, changePlan, billNow, refundPeriod, cancel, settleManually]) {
      expect(PAGE).toMatch(new RegExp(`^\\| \`${name}\``, 'm'));
    }
    expect(/^## (.*)$/m.exec(PAGE)?.[1]).toBe('Limits');
  });

  test('lets a line of an import have another reference only where no subscription can have billed', () => {
    const [, rule = ''] = /A subscription that was refused keeps its reference\.(.*?)\n\n/s.exec(PAGE) ?? [];
    const [mended = '', ...others] = rule.replaceAll('\n', ' ').split(/(?=Whatever else it says)/);
    expect(mended).toMatch(/`InvalidInput`, mend the line and give it another one/);
    for (const type of [
      FAILURE_TYPES.referenceConflict,
      'EngineUnavailable',
      'FlowStopped',
    ] satisfies HoldfastErrorType[])
      expect(others.join()).toContain(`\`${type}\``);
    expect(others.join()).toMatch(/take the line as it was, never under another reference/);
  });
});
