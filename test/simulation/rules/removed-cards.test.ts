import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import { storedCard } from '../../support/cards.js';
import { MINUTE, sharedTime } from './context.js';

const time = sharedTime();

const refuses = (status: number, token: string): FaultInput => ({
  action: 'status',
  status,
  method: 'DELETE',
  path: `*/${token}`,
});

test('a removal that has failed is asked for again by a repeat, and its command id stays that of its card', async () => {
  const { customerId, token } = await storedCard(time);
  const fault = await time.sandbox.addFault(refuses(401, token));
  const removal = { customerId, token, commandId: 'gone' };
  await expect(time.holdfast.removeCard(removal)).rejects.toMatchObject({ type: 'CredentialsRejected' });
  const another = time.holdfast.removeCard({ ...removal, token: randomUUID() });
  await expect(another).rejects.toMatchObject({ type: 'ReferenceConflict' });
  await time.sandbox.removeFault(fault.id);
  for (const _repeat of [1, 2]) expect(await time.holdfast.removeCard(removal)).toMatchObject({ status: 'removed' });
  expect((await time.holdfast.listCards({ customerId })).cards).toEqual([]);
});

test('a removal that is answered by a proxy, or by an error with a 200, is asked for again and not called removed', async () => {
  const { customerId, token } = await storedCard(time);
  const fault = await time.sandbox.addFault({ action: 'garbage', method: 'DELETE', path: `*/${token}`, times: 1 });
  expect(await time.holdfast.removeCard({ customerId, token })).toMatchObject({ status: 'removed' });
  expect((await time.holdfast.listCards({ customerId })).cards).toEqual([]);
  expect(await time.sandbox.faults()).toMatchObject([{ id: fault.id, fired: 1 }]);
});

test('who removes a card at a service that does not answer is told that, and the command id for a repeat', async () => {
  const { customerId, token } = await storedCard(time);
  const fault = await time.sandbox.addFault(refuses(503, token));
  const asked: Promise<unknown> = time.holdfast.removeCard({ customerId, token }).catch((error: unknown) => error);
  await time.passUntil((await time.now()) + MINUTE);
  const refusal = await asked;
  expect(refusal).toMatchObject({ type: 'EngineUnavailable', message: expect.stringContaining('payment service') });
  expect(String(refusal)).not.toMatch(/status\(|Temporal|reference/);
  const [, commandId = ''] = /with commandId "([^"]+)"/.exec(String(refusal)) ?? [];
  await time.sandbox.removeFault(fault.id);
  await time.passUntil((await time.now()) + MINUTE);
  expect(await time.holdfast.removeCard({ customerId, token, commandId })).toMatchObject({ status: 'removed' });
});
