import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { processIdentity } from '../../src/cli/process-identity.js';
import { BootError, SupervisedProcess } from '../../tools/stack/supervised-process.js';
import { until } from '../support/until.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SERVES = "console.log('ready thing http://x'); setInterval(() => {}, 1000);";
const STUBBORN = `process.on('SIGTERM', () => {}); ${SERVES}`;

const made: SupervisedProcess[] = [];
afterEach(() => Promise.all(made.splice(0).map((process) => process.stop(0))));

function supervise(
  code: string,
  said: string[] = [],
  logPath = join(temporaryFolder(), 'thing.log'),
): SupervisedProcess {
  const supervised = new SupervisedProcess(
    {
      name: 'thing',
      command: process.execPath,
      args: ['-e', code],
      env: process.env,
      logPath,
      saysReady: true,
    },
    (line) => said.push(line),
    () => undefined,
  );
  made.push(supervised);
  return supervised;
}

function pidOf(supervised: SupervisedProcess): number {
  const pid = supervised.running?.pid;
  if (pid === undefined) throw new Error('not running');
  return pid;
}

const untilTrue = (condition: () => boolean) =>
  until(
    async () => condition(),
    (yes) => yes,
  );

describe('a supervised process', () => {
  test('is started again when it crashes, and that is said', async () => {
    const said: string[] = [];
    const supervised = supervise(SERVES, said);
    await supervised.start();
    const first = pidOf(supervised);
    process.kill(first, 'SIGKILL');
    await untilTrue(() => said.includes('thing serves again.'));
    expect(pidOf(supervised)).not.toBe(first);
    expect(said[0]).toContain('thing ended (signal SIGKILL): it is started again');
  });

  test('that ends before it ever served is not tried again, and the error shows the end of its log', async () => {
    const supervised = supervise("console.error('HOLDFAST_X is wrong'); process.exit(1)");
    const failure = await supervised.start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BootError);
    expect((failure as Error).message).toMatch(/exit code 1[^]*HOLDFAST_X is wrong/);
    expect(supervised.running).toBeUndefined();
  });

  test('that was killed on purpose stays down until it is started again', async () => {
    const said: string[] = [];
    const supervised = supervise(SERVES, said);
    await supervised.start();
    const first = pidOf(supervised);
    await supervised.kill();
    expect({ identity: processIdentity(first), running: supervised.running, said }).toEqual({
      identity: undefined,
      running: undefined,
      said: [],
    });
    await supervised.start();
    expect(pidOf(supervised)).not.toBe(first);
  });

  test('that ignores SIGTERM is killed when its time is over', async () => {
    const supervised = supervise(STUBBORN);
    await supervised.start();
    const pid = pidOf(supervised);
    await supervised.stop(100);
    expect(processIdentity(pid)).toBeUndefined();
  });

  test('that can not be started at all says why', async () => {
    const logPath = join(temporaryFolder(), 'thing.log');
    const spec = { name: 'thing', command: '/no/such/file', args: [], env: { PATH: '' }, logPath, saysReady: true };
    const supervised = new SupervisedProcess(
      spec,
      () => undefined,
      () => undefined,
    );
    made.push(supervised);
    await expect(supervised.start()).rejects.toThrow(/\/no\/such\/file/);
  });

  test('whose log can not be written goes on, and that is said once until it can be again', async () => {
    const logPath = join(temporaryFolder(), 'logs', 'thing.log');
    mkdirSync(dirname(logPath));
    const said: string[] = [];
    const code = `${SERVES} setInterval(() => console.log('still here'), 5);`;
    const supervised = supervise(code, said, logPath);
    await supervised.start();
    const pid = pidOf(supervised);
    for (const times of [1, 2]) {
      await untilTrue(() => existsSync(logPath) && readFileSync(logPath, 'utf8').includes('still here'));
      rmSync(dirname(logPath), { recursive: true });
      await untilTrue(() => said.length === times);
      expect(said.at(-1)).toMatch(/What thing prints can not be logged.*ENOENT.*thing\.log/);
      mkdirSync(dirname(logPath));
    }
    expect(pidOf(supervised)).toBe(pid);
  });

  test('writes both its outputs to its log', async () => {
    const logPath = join(temporaryFolder(), 'thing.log');
    const code = `console.error('to stderr'); console.log('to stdout'); ${SERVES}`;
    const spec = {
      name: 'thing',
      command: process.execPath,
      args: ['-e', code],
      env: process.env,
      logPath,
      saysReady: true,
    };
    const supervised = new SupervisedProcess(
      spec,
      () => undefined,
      () => undefined,
    );
    await supervised.start();
    await supervised.stop(1_000);
    await untilTrue(() => readFileSync(logPath, 'utf8').includes('ready thing'));
    expect(readFileSync(logPath, 'utf8')).toMatch(/to stderr/);
    expect(readFileSync(logPath, 'utf8')).toMatch(/to stdout/);
  });
});
