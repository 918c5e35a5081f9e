import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeTo } from '../../src/cli/write-to.js';
import { root } from '../tools/support.js';

test('what is written after the reader has left is dropped, and nothing else of the command is', async () => {
  const written: string[] = [];
  const stream = new Writable({
    // As the standard streams are: they stay open after an error.
    autoDestroy: false,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(String(chunk));
      done(written.length < 2 ? null : Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    },
  });
  const write = writeTo(stream);
  for (const text of ['one', 'two', 'three']) {
    write(text);
    await setImmediate();
  }
  expect(written).toEqual(['one', 'two']);
});

test('a command whose reader has left ends with its own exit code', async () => {
  const ran = spawn(process.execPath, [join(root, 'tools/holdfast.mjs'), 'sow', 'order-1']);
  ran.stdout.destroy();
  ran.stderr.destroy();
  expect(await once(ran, 'exit')).toEqual([2, null]);
});
