import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { half } from '../support/counts.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DIST = (path: string) => new URL(`../../dist/${path}`, import.meta.url).href;
const CODEC = fileURLToPath(DIST('workers/codec.js'));

interface Started {
  child: ChildProcess;
  output: () => { stdout: string; stderr: string };
  ended: Promise<number | null>;
}

/** A process around `runProcess`, its service given as source text. */
const around = (service: string) => [
  '--input-type=module',
  '-e',
  `import { loadCodecConfig } from ${JSON.stringify(DIST('src/config/index.js'))};
   import { runProcess } from ${JSON.stringify(DIST('workers/process.js'))};
   const keepAlive = setInterval(() => {}, 1000);
   await runProcess({ name: 'codec', load: loadCodecConfig, start: async ({ stopping }) => { ${service} } });`,
];

function start(env: Record<string, string>, command: string[] = [CODEC]): Started {
  const stateDir = temporaryFolder();
  const base = { PATH: process.env['PATH'] ?? '', HOLDFAST_STATE_DIR: stateDir, HOLDFAST_CODEC_PORT: '0' };
  const child = spawn(process.execPath, command, { env: { ...base, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, output: () => ({ stdout, stderr }), ended };
}

/** The address of the `ready` line. */
async function ready({ child, output, ended }: Started): Promise<string> {
  while (!output().stdout.includes('\n')) {
    const more = once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    const ending = ended.then(() => Promise.reject(new Error(`ended before it was ready: ${output().stderr}`)));
    await Promise.race([more, ending]);
  }
  return /^ready codec (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(output().stdout)?.[1] ?? '';
}

describe('a process', () => {
  test.each(half(['SIGTERM', 'SIGINT'] as const))(
    'prints one ready line once it serves, and ends with 0 on %s',
    async (signal) => {
      const started = start({ HOLDFAST_EMBEDDED: '1' });
      const url = await ready(started);
      expect((await fetch(`${url}/health`)).status).toBe(200);
      started.child.kill(signal);
      expect(await started.ended).toBe(0);
      expect(started.output().stdout).toBe(`ready codec ${url}\n`);
    },
  );

  test('logs JSON lines with its settings and without a secret', async () => {
    const started = start({ HOLDFAST_EMBEDDED: '1', HOLDFAST_CODEC_TOKEN: 'token-of-the-test-run' });
    await ready(started);
    started.child.kill('SIGTERM');
    await started.ended;
    const { stderr } = started.output();
    const messages = stderr
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toContain('HOLDFAST_CODEC_TOKEN: set');
    expect(messages.at(-1)).toBe('Stopped');
    expect(stderr).not.toContain('token-of-the-test-run');
  });

  test('does not start with a faulty configuration, and names every fault', async () => {
    const started = start({ HOLDFAST_LOG_LEVEL: 'loud', HOLDFAST_CODEC_PORT: 'x', HOLDFAST_ENCRYPTION_KEYS: 'k1:abc' });
    expect(await started.ended).toBe(1);
    const { stdout, stderr } = started.output();
    expect(stdout).toBe('');
    expect(stderr).toContain('codec: the configuration has 5 faults:');
    for (const name of ['LOG_LEVEL', 'CODEC_PORT', 'ENCRYPTION_KEYS', 'CODEC_TOKEN', 'CODEC_UI_CAPABILITY']) {
      expect(stderr).toContain(`- HOLDFAST_${name}`);
    }
  });

  test('names a taken port and the setting that moves it', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    try {
      const started = start({ HOLDFAST_EMBEDDED: '1', HOLDFAST_CODEC_PORT: String(port), HOLDFAST_LOG_LEVEL: 'error' });
      expect(await started.ended).toBe(1);
      expect(started.output()).toEqual({
        stdout: '',
        stderr: `codec: port ${port} on 127.0.0.1 is already taken: set HOLDFAST_CODEC_PORT to a free port.\n`,
      });
    } finally {
      holder.close();
    }
  });

  test('that is told to stop while it starts gives up and ends with 0', async () => {
    const service = `console.log('starting'); const { setTimeout: sleep } = await import('node:timers/promises');
      await sleep(600_000, undefined, { signal: stopping });`;
    const started = start({ HOLDFAST_EMBEDDED: '1' }, around(service));
    await once(started.child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(0);
  });

  test.each([
    ['fails while it starts', `throw new Error('no luck with 4111 1111 1111 1111');`],
    [
      'fails later',
      `return { url: 'x', stop: async () => {}, failed: Promise.reject(new Error('no luck with 4111111111111111')) };`,
    ],
    [
      'throws where nobody waits',
      `setTimeout(() => { throw new Error('no luck with 4111111111111111'); }); return { url: 'x', stop: async () => {} };`,
    ],
  ])('that %s ends with 1 and says why, without card data and without a stack', async (_how, service) => {
    const started = start({ HOLDFAST_EMBEDDED: '1' }, around(service));
    expect(await started.ended).toBe(1);
    const { stderr } = started.output();
    expect(stderr).toContain('no luck with');
    expect(stderr).not.toMatch(/4111[ ]?1111|at .*\(/);
  });
});
