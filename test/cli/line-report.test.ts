import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Engine } from '../../src/cli/engine.js';
import type { Line } from '../../src/cli/line-file.js';
import { Report } from '../../src/cli/line-report.js';

const FULL = '/dev/full';

test.skipIf(!existsSync(FULL))(
  'after one line that could not be written none is, or it would stand behind half of that (skipped: no /dev/full)',
  async () => {
    const client = {
      options: { namespace: 'shop' },
      workflowService: { describeNamespace: async () => ({ namespaceInfo: { id: 'one' } }) },
      withDeadline: async (_until: number, ask: () => Promise<unknown>) => await ask(),
    };
    const report = await Report.of(FULL, { client, address: 'there' } as unknown as Engine);
    report.open();
    const line = (number: number) => ({ number, reference: 'a', workflowId: 'payment-a', hash: 'h' }) as Line;
    const add = (number: number) => () => report.add(line(number), { result: 'known' } as never, new Date());
    expect(add(1)).toThrow('(ENOSPC): line 1 was asked for');
    expect(add(2)).toThrow('(ENOSPC): line 1 was asked for');
    report.close();
  },
);
