import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Engine } from '../../src/cli/engine.js';
import type { Line } from '../../src/cli/line-file.js';
import { Report } from '../../src/cli/line-report.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const FULL = '/dev/full';

async function reportAt(path: string): Promise<Report> {
  const client = {
    options: { namespace: 'shop' },
    workflowService: { describeNamespace: async () => ({ namespaceInfo: { id: 'one' } }) },
    withDeadline: async (_until: number, ask: () => Promise<unknown>) => await ask(),
  };
  return await Report.of(path, { client, address: 'there' } as unknown as Engine);
}

test.skipIf(!existsSync(FULL))(
  'after one line that could not be written none is, or it would stand behind half of that (skipped: no /dev/full)',
  async () => {
    const report = await reportAt(FULL);
    report.open();
    const line = (number: number) => ({ number, reference: 'a', workflowId: 'payment-a', hash: 'h' }) as Line;
    const add = (number: number) => () => report.add(line(number), { result: 'known' } as never, new Date());
    expect(add(1)).toThrow('(ENOSPC): line 1 was asked for');
    expect(add(2)).toThrow('(ENOSPC): line 1 was asked for');
    report.close();
  },
);

test('half an entry of a call that was killed is cut off, and another file that is named by mistake is left as it is', async () => {
  const path = join(temporaryFolder(), 'report.jsonl');
  const report = await reportAt(path);
  report.open();
  const line = { number: 1, reference: 'a', workflowId: 'payment-a', hash: 'h' } as Line;
  report.add(line, { result: 'outcome', outcome: { status: 'succeeded' } }, new Date());
  report.close();
  const entry = readFileSync(path, 'utf8');
  for (const half of ['{', entry.slice(0, 20), entry.slice(0, -1)]) {
    writeFileSync(path, `${entry}${half}`);
    expect(report.done()).toEqual(new Set(['payment-a h']));
    expect(readFileSync(path, 'utf8')).toBe(entry);
  }
  for (const other of ['{"reference":"club-7"}', 'orders', `${entry}orders`]) {
    writeFileSync(path, other);
    expect(() => report.done()).toThrow(/, line [12], is no report/);
    expect(readFileSync(path, 'utf8')).toBe(other);
  }
});
