import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root, startScript } from '../tools/support.js';

test('The package names a command that can be run as it is', async () => {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { holdfast: string } };
  const file = join(root, bin.holdfast);
  expect(statSync(file).mode & 0o111).not.toBe(0);
  const ran = startScript([file, 'sow', 'order-1'], process.env);
  expect((await ran.ended).code).toBe(2);
  expect(ran.output()).toContain("unknown command 'sow'");
});
