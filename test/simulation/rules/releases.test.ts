import { expect, test, vi } from 'vitest';
import type { BrakesRequest } from '../../../src/cli/brake-arguments.js';
import { runBrakes } from '../../../src/cli/brakes.js';
import type { Engine } from '../../../src/cli/engine.js';
import { ADA, braking } from './braking.js';
import { SECOND, sharedTime } from './context.js';

const time = sharedTime();
const { brake } = braking(time);

async function run(request: BrakesRequest) {
  let out = '';
  let err = '';
  const print = (text: string) => void (out += text);
  const code = await runBrakes({ client: time.client } as Engine, request, {
    print,
    printError: (text) => void (err += text),
  });
  return { code, out, err };
}

const release = async (since?: string) =>
  await run({
    ...{ command: 'release', json: false },
    request: { businessUnit: 'default', ...ADA, ...(since !== undefined && { since }) },
  });

/** As the command says it. */
async function lastBraked(): Promise<string> {
  const { out } = await run({ command: 'brakes', json: true });
  return (JSON.parse(out) as { braked: { brakedAt: string }[] }).braked[0]?.brakedAt ?? '';
}

test('a release without the time of the brake releases nothing, and says it', async () => {
  await brake();
  const at = await lastBraked();
  expect(await release()).toMatchObject({
    code: 1,
    out: expect.stringContaining('by Ada: charges twice. It stops new payments.'),
    err: `Nothing was released. If this is the one, give it again with: --since ${at}\n`,
  });
  expect((await run({ command: 'brakes', json: false })).out).toContain(at);
  expect(await release(at)).toMatchObject({ code: 0, out: 'Business unit "default" is released.\n' });
  expect(await release(at)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is not braked') });
  expect((await run({ command: 'brakes', json: false })).out).toMatch(
    /^No business unit.*[\s\S]*release {2}default {2}Ada/,
  );
});

test('a release that is given again lifts no brake that somebody has set since, over the first one too', async () => {
  await brake();
  const first = await lastBraked();
  await time.passUntil((await time.now()) + SECOND);
  await brake({ who: 'Eve' });
  const second = await lastBraked();
  expect(second > first).toBe(true);
  await expect(release(first)).rejects.toThrow(`was last braked at ${second}, not at ${first}`);
  // However much others are braked and released meanwhile.
  for (let times = 0; times < 30; times += 1) {
    await brake({ businessUnit: 'another' });
    await time.holdfast.brakes.release({ businessUnit: 'another', ...ADA });
  }
  await expect(release(first)).rejects.toThrow(`was last braked at ${second}`);
  expect((await release(second)).code).toBe(0);
  await time.passUntil((await time.now()) + SECOND);
  await brake({ who: 'Eve' });
  await expect(release(second)).rejects.toThrow('was last braked at');
});

test('nor does one that has seen no brake lift one that is set before it looks again', async () => {
  const { workflow } = time.client;
  const getHandle = workflow.getHandle.bind(workflow);
  let looks = 0;
  const looking = vi.spyOn(workflow, 'getHandle').mockImplementation((...named) => {
    const handle = getHandle(...named);
    const describe = handle.describe.bind(handle);
    handle.describe = async () => {
      looks += 1;
      if (looks === 2) await brake({ who: 'Eve' });
      return await describe();
    };
    return handle;
  });
  const { code, err } = await release();
  looking.mockRestore();
  expect({ code, err }).toEqual({ code: 1, err: 'Business unit "default" is not braked: nothing was changed.\n' });
});
