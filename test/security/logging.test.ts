import { describe, expect, test } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { createLogger, temporalLogger, type LogLevel, createRedactor } from '../../src/security/logging.js';
import { writtenCardNumber } from '../contract/card-numbers.arbitrary.js';

function captured(level: LogLevel = 'info', secrets: string[] = []) {
  const lines: string[] = [];
  const logger = createLogger({ name: 'worker', level, secrets, stream: { write: (line) => lines.push(line) } });
  return { logger, lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('createLogger', () => {
  test('writes listed fields only, and names what it left out', () => {
    const { logger, lines, entries } = captured();
    logger.info({ workflowId: 'payment-1', body: { secret: 1 }, paths: ['$.a'], paymentId: { nested: true } }, 'Done');
    expect(entries()[0]).toMatchObject({
      level: 'info',
      name: 'worker',
      workflowId: 'payment-1',
      paths: ['$.a'],
      omitted: ['body', 'paymentId'],
      msg: 'Done',
    });
    expect(lines[0]).not.toMatch(/secret|nested/);
  });

  test('holds children and grandchildren to the same list', () => {
    const { logger, lines, entries } = captured();
    logger.child({ taskQueue: 'q', body: 'HIDDEN' }).child({ request: 'HIDDEN' }).info({ runId: 'r' }, 'x');
    expect(entries()[0]).toMatchObject({ taskQueue: 'q', runId: 'r' });
    expect(lines[0]).not.toContain('HIDDEN');
  });

  test('writes type, message, code and causes of an error, and its stack at debug only', () => {
    const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED', request: 'HIDDEN' });
    const err = ApplicationFailure.create({
      message: 'no answer',
      type: 'ProviderUnavailable',
      cause,
      details: ['HIDDEN'],
    });
    for (const level of ['info', 'debug'] as const) {
      const { logger, lines, entries } = captured(level);
      logger.error({ err }, 'Failed');
      logger.error(err);
      for (const entry of entries()) {
        expect(entry['err']).toMatchObject({
          type: 'ProviderUnavailable',
          message: 'no answer',
          causes: [{ type: 'Error', message: 'connection refused', code: 'ECONNREFUSED' }],
        });
        expect('stack' in (entry['err'] as object)).toBe(level === 'debug');
      }
      expect(lines.join()).not.toContain('HIDDEN');
    }
  });

  test('stars card numbers and known secrets wherever they turn up', () => {
    const secret = 'sandbox-"private"-key';
    fc.assert(
      fc.property(writtenCardNumber, (written) => {
        const { logger, lines, entries } = captured('debug', [secret]);
        const err = new Error(`refused ${written} with ${secret}`);
        logger
          .child({ reason: written })
          .warn({ err, reference: written, paths: [secret] }, `for ${written} ${secret}`);
        expect(entries()).toHaveLength(1);
        expect(lines[0]).not.toContain(written);
        expect(lines[0]).not.toContain('private');
      }),
      { numRuns: 50 },
    );
  });

  test('keeps times and ids readable', () => {
    const line = '{"time":"2026-11-21T07:22:29.123Z","id":"3c9b1b1e-7f0a-4a54-9d4e-0d3c3b7f1111","at":1795246515877}';
    expect(createRedactor(['', 'short'])(line)).toBe(line);
  });
});

describe('temporalLogger', () => {
  test('drops task tokens and options that the SDK hands to its logger', () => {
    const { logger, lines, entries } = captured('debug');
    const sdk = temporalLogger(logger);
    const error = new Error('boom');
    sdk.warn('Activity failed', {
      error,
      taskToken: 'HIDDEN',
      activityType: 'createCharge',
      attempt: 3,
      sdkComponent: 'worker',
    });
    sdk.debug('Creating worker', { options: { dataConverter: 'HIDDEN' }, taskQueue: 'holdfast' });
    sdk.log('TRACE', 'too detailed');
    expect(entries()).toHaveLength(2);
    expect(entries()[0]).toMatchObject({
      level: 'warn',
      activityType: 'createCharge',
      attempt: 3,
      err: { message: 'boom' },
    });
    expect(entries()[1]).toMatchObject({ level: 'debug', taskQueue: 'holdfast', msg: 'Creating worker' });
    expect(lines.join()).not.toContain('HIDDEN');
  });

  test('warns of no worker that has no workflows on purpose', () => {
    const { logger, entries } = captured('info');
    const sdk = temporalLogger(logger);
    sdk.warn('No workflows registered, not polling for workflow tasks', { taskQueue: 'holdfast-notifications' });
    sdk.warn('Something else');
    expect(entries().map(({ msg }) => msg)).toEqual(['Something else']);
  });
});
