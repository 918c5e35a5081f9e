import { describe, expect, test } from 'vitest';
import { createEnginePort } from '../../src/client/engine-port.js';
import type { ToldEnd } from '../../src/contract/engine-port.js';
import { markSealed, undecodable } from '../../src/contract/payload-marks.js';
import { engineWith, ID, type Run } from './engine-with.js';

const OWN: Run = { runId: 'own', original: 'first', base: 'before', status: 'RUNNING' };
const toldBefore = async (...others: Run[]): Promise<ToldEnd | undefined> =>
  await createEnginePort(engineWith([OWN, ...others])).toldEnd(ID, 'own', undefined);

describe('what the run before a reset has told, so that nothing is sent anew', () => {
  const completed = (result: unknown): Run => ({ runId: 'before', status: 'COMPLETED', result });
  const OF_UNKNOWN_ID = { runId: 'before', ofAttempt: false, saidTaken: 'of unknown id' };

  test.each([
    ['that nothing was taken', markSealed({ status: 'notExecuted' }), { runId: 'before', ofAttempt: false }],
    ['that a key was sent', markSealed({ status: 'succeeded', transactionId: 'tx' }), undefined],
    ['in clear', { status: 'succeeded', transactionId: 'tx' }, OF_UNKNOWN_ID],
    ['in what no worker can read', markSealed(undecodable('malformed')), OF_UNKNOWN_ID],
  ])('%s', async (_what, result, told) => {
    expect(await toldBefore(completed(result))).toEqual(told);
  });

  test('is no matter of guessing on a worker that lacks the key of it', async () => {
    const told = toldBefore(completed(markSealed(undecodable('unknown key id', 'old'))));
    await expect(told).rejects.toThrow('unknown key id "old"');
  });
});

describe('a run that Temporal no longer keeps', () => {
  const FORGOTTEN = { runId: 'gone', ofAttempt: false, saidTaken: 'of unknown id', isForgotten: true };
  const BASE: Run = { runId: 'before', status: 'TERMINATED' };

  test('counts as one that has told its end where a reset has replaced it', async () => {
    const engine = engineWith([{ ...OWN, base: 'gone' }]);
    expect(await createEnginePort(engine).toldEnd(ID, 'own', undefined)).toEqual(FORGOTTEN);
  });

  test('counts so where a run that a reset has made was continued since', async () => {
    const engine = engineWith([{ runId: 'own', first: 'first', continues: 'gone', status: 'RUNNING' }]);
    expect(await createEnginePort(engine).toldEnd(ID, 'own', undefined)).toEqual(FORGOTTEN);
  });

  test('counts as none where the replaced run had continued it', async () => {
    expect(await toldBefore({ ...BASE, continues: 'gone' })).toBeUndefined();
  });
});
