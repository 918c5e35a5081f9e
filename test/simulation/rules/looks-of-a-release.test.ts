import { afterEach, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { HOUR, MINUTE, SECOND, sharedTime } from './context.js';
import { EACH_TASK, held, HELD, RELEASED, TAKEN } from './held-and-reset.js';

const time = sharedTime();

const QUARTER = 15 * MINUTE;
/** A look asks so many times. */
const ATTEMPTS = 3;

/**
 * After the first one reads of the payment get no answer for a quarter of an hour: as long as a void looks before it
 * gives up.
 * @returns when each read came
 */
function unreadable(paymentId: string): number[] {
  const { sandbox } = time.simulation.world;
  const reads: number[] = [];
  let left = ATTEMPTS;
  sandbox.through = async (request, serve) => {
    if (request.method !== 'GET' || !request.path.endsWith(`/payments/${paymentId}`)) return await serve(request);
    reads.push(await time.now());
    const [, since = 0] = reads;
    if (reads.length === 1 || left === 0) return await serve(request);
    if ((reads.at(-1) ?? 0) - since >= QUARTER) left -= 1;
    return { status: 503, headers: {}, body: Buffer.from('') };
  };
  return reads;
}

afterEach(() => {
  time.simulation.world.sandbox.through = (request, serve) => serve(request);
});

test.each(EACH_TASK)(
  'a hold that a reset run finds replaced is read before each void, and not besides: a reset to the task %s',
  async (task) => {
    const flow = await held(time, task, { onDeadline: 'void' });
    const { hold, paymentId, until, reset } = flow;
    await until(1);
    expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
    const reads = unreadable(paymentId);
    await reset({ withoutUpdates: true });
    await time.holdfast.retryNow({ workflowId: hold.workflowId });
    await flow.pass(3 * HOUR);
    const [, since = 0] = reads;
    const givenUp = reads.findIndex((at) => at - since >= QUARTER) + ATTEMPTS - 1;
    const next = (reads[givenUp + 1] ?? 0) - (reads[givenUp] ?? 0);
    expect(next).toBeGreaterThan(MINUTE - SECOND);
    expect(next).toBeLessThan(MINUTE + SECOND);
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    expect(await hold.ask('capture', { commandId: 'ship' })).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
  },
);
