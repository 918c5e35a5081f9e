import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { GIVE_AGAIN, type HoldfastError, translate } from '../../src/client/errors.js';

const notFound = (message: string) =>
  translate(new WorkflowNotFoundError(message, 'subscription-s1', undefined), 'subscription-s1');

test('a flow that is not there is told as that', () => {
  expect(notFound('workflow not found for ID: subscription-s1')).toMatchObject({ type: 'FlowNotFound' });
});

test('a flow that has closed is told as ended', () => {
  expect(notFound('workflow execution already completed')).toBe('ended');
});

test('a question that the server lost as one run gave way to the next may be asked again: its flow is there', () => {
  expect(notFound('update "4f1c" not found')).toMatchObject({ type: 'EngineUnavailable', askAgain: true });
});

test.each([3, 7, 16])('a call that Temporal refuses with code %i is never said to have done nothing', (code) => {
  const refused = Object.assign(new Error('token expired'), { code, details: 'token expired', metadata: {} });
  const message = (again?: string) => (translate(refused, 'order-1', again) as HoldfastError).message;
  expect(message()).toMatch(
    /refused this call \(token expired\).*may have started.*Never repeat it under a new reference/,
  );
  expect(message(GIVE_AGAIN)).toMatch(/refused this call \(token expired\).*may have been taken.*same commandId/);
});

test('an error that nobody has foreseen is not called a lack of time, and may have done what was asked', () => {
  const { type, message, askAgain } = translate(new TypeError('x is not a function'), 'order-1') as HoldfastError;
  expect({ type, askAgain }).toEqual({ type: 'EngineUnavailable', askAgain: false });
  expect(message).toMatch(/^The call failed, .*may have started.*Cause: x is not a function$/);
});

test('a command whose answer Temporal refuses to tell may have been taken, and is named', async () => {
  const refused = Object.assign(new Error('token expired'), { code: 7, details: 'token expired', metadata: {} });
  const startUpdate = () => Promise.resolve({ result: () => Promise.reject(refused) });
  const describe = () => Promise.resolve({ status: { name: 'RUNNING' } });
  const withDeadline = (_at: number, call: () => Promise<unknown>) => call();
  const client = { workflow: { getHandle: () => ({ describe, startUpdate }) }, withDeadline } as unknown as Client;
  await expect(new HoldfastClient(client).void('order-1')).rejects.toMatchObject({
    type: 'EngineUnavailable',
    message: expect.stringMatching(/token expired.*may have been taken.*with commandId "[^"]+"/),
  });
});
