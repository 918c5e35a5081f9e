import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { UPDATE_NAMES } from '../../../src/contract/names.js';
import { LIMITS } from '../engine/limits.js';
import { atFullCounts } from '../../support/at-full-counts.js';
import { CARDS } from '../../support/charges.js';
import { authorizeInput, movements } from '../../support/payments.js';
import { begin, SPECS } from '../../support/virtual-flows.js';
import { answers, failsWith, HOUR, MINUTE, SECOND, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });

/** Asks as a status job does, until the flow takes no more questions; at most as often as the engine lets it. */
async function askTillRefused({ workflowId }: { workflowId: string }, type: string) {
  const handle: WorkflowHandle = time.client.workflow.getHandle(workflowId);
  const { memo } = await handle.describe();
  const ask = async () =>
    await handle.executeUpdate<{ status: string }, [object]>(UPDATE_NAMES.outcome, {
      args: [{ type, fingerprint: memo?.['holdfastFingerprint'], waitFor: 0 }],
    });
  let taken = 0;
  let refusal: unknown;
  while (refusal === undefined && taken < LIMITS.updates) {
    await ask().then(
      () => (taken += 1),
      (error: unknown) => (refusal = error),
    );
  }
  return { taken, refusal };
}

/** What the engine has counted of the present run. */
function updatesOf(workflowId: string): number {
  const runs = [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === workflowId);
  return runs.at(-1)?.updateCount ?? 0;
}

describe('a subscription that is asked without end while a payment of it pends', () => {
  test('leaves places for its commands, and says so to whoever asks', async () => {
    const { flow, input, reach } = await beginWeekly(time, { periods: 4 }, { '1.1': { status: 'Pending' } });
    await reach(0);
    const { taken, refusal } = await askTillRefused(flow, 'subscription');
    expect(refusal).toMatchObject(failsWith('RateLimited', 'ask again'));
    expect(taken).toBeGreaterThan(1_000);
    expect(updatesOf(flow.workflowId)).toBeLessThanOrEqual(LIMITS.updates - 200);
    // A question of our client costs no place, and is answered nevertheless.
    const asked = time.holdfast.subscribe(input, { waitFor: '2 seconds' });
    await time.passUntil((await time.now()) + 5 * SECOND);
    expect(await asked).toMatchObject({ status: 'unknown' });
    expect(updatesOf(flow.workflowId)).toBe(taken);
    const pause = async () => await flow.command('pause', { commandId: 'stand still' });
    expect(await pause()).toMatchObject({ status: 'paused' });
    // Given again without end it takes no place of another one either.
    const repeated = (async () => {
      for (let n = 0; n < LIMITS.updates; n += 1) await pause();
    })();
    await expect(repeated).rejects.toMatchObject(failsWith('RateLimited', 'ask again'));
    expect(updatesOf(flow.workflowId)).toBeLessThanOrEqual(LIMITS.updates - 200);
    expect(await flow.command('resume')).toMatchObject({ status: 'billing' });
    const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
    await reach(8);
    expect((await time.holdfast.subscribe(input)).status).toBe('active');
    expect(await flow.command('cancel', { when: 'now' })).toMatchObject({ status: 'cancelled', billedPeriods: 2 });
  });
});

describe('a flow that is asked without end while it sends', () => {
  atFullCounts('leaves places for whoever wants it to look, and for its commands', async () => {
    await time.input();
    const input = await authorizeInput(time, CARDS.succeeds);
    const fault = { ...answers(503, 'POST', '*/authorizations'), reconciliation_id: input.reference };
    const { id } = await time.sandbox.addFault(fault);
    const hold = await begin(time, SPECS.authorize(input));
    await time.passUntil(hold.startedAt + MINUTE);
    const { taken, refusal } = await askTillRefused(hold, 'authorizeAndCapture');
    expect(refusal).toMatchObject(failsWith('RateLimited', 'ask again'));
    expect(taken).toBeGreaterThan(1_000);
    expect(updatesOf(hold.workflowId)).toBeLessThanOrEqual(LIMITS.updates - 200);
    expect(await time.holdfast.retryNow(hold.reference)).toContain('Woken');
    await hold.command('void', { commandId: 'not wanted' });
    await time.sandbox.removeFault(id);
    await time.passUntil((await time.now()) + HOUR);
    expect(await hold.outcome()).toMatchObject({ status: 'notExecuted' });
    expect(await movements(time, hold.reference)).toEqual([]);
  });
});
