import { WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { translate } from '../../src/client/errors.js';

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
