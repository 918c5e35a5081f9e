import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { HoldfastError } from '../../src/client/index.js';
import { faultsOf } from '../../src/contract/fields.js';
import type { Logger } from '../../src/security/logging.js';
import type { Refusal } from './answers.js';
import { TO_DO_AFTER_ERROR } from './texts.js';

/** A refusal by the console itself. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly faults: readonly string[] = [],
  ) {
    super(message);
  }
}

/** @throws Refused with every fault of the body */
export function body<Schema extends z.ZodType>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(request.body);
  if (parsed.success) return parsed.data;
  throw new Refused(400, 'Nothing was done: the request can’t be used', faultsOf(parsed.error));
}

const STATUSES: Readonly<Partial<Record<HoldfastError['type'], number>>> = {
  InvalidInput: 400,
  FlowNotFound: 404,
  NotFound: 404,
  ReferenceConflict: 409,
  StateConflict: 409,
};

/** Nothing of the request was sent to the payment service: `ReferenceConflict` says nothing of the earlier one. */
const SENT_NOTHING: readonly HoldfastError['type'][] = ['InvalidInput', 'StateConflict'];

interface Failure {
  status: number;
  what: string;
  toDo: string;
  faults: readonly string[];
}

/** Says what went wrong and what to do. What nobody expected is logged, and its text told to nobody else. */
export function failureTexts(sandboxUrl: string, logger: Pick<Logger, 'error'>): (error: unknown) => Failure {
  const say = (status: number, what: string, toDo: string, faults: readonly string[] = []): Failure => ({
    status,
    what,
    toDo,
    faults,
  });
  const isRunning = 'Is npm start still running?';
  return (error) => {
    if (error instanceof HoldfastError) {
      const { type, message, faults } = error;
      return say(STATUSES[type] ?? 503, `${type}: ${message}`, TO_DO_AFTER_ERROR[type], faults);
    }
    if (error instanceof Refused) return say(error.status, error.message, 'Mend it and try again.', error.faults);
    if (error instanceof ServiceError || isGrpcServiceError(error)) {
      return say(503, `Temporal does not answer (${error.message})`, isRunning);
    }
    const { name, message, statusCode } = error as Error & { statusCode?: number };
    if (name === 'SandboxControlError') return say(409, `The sandbox refused: ${message}`, 'Look again and repeat it.');
    if (message === 'fetch failed') return say(503, `The sandbox does not answer at ${sandboxUrl}`, isRunning);
    if (statusCode !== undefined && statusCode < 500) return say(statusCode, message, 'Mend the request.');
    logger.error({ err: error }, 'Console request failed');
    return say(500, 'The console failed', 'Its log, logs/console.log in the state folder, says why.');
  };
}

/** Every refusal and failure is answered with what happened and what to do. */
export function answerErrors(server: FastifyInstance, sayFailure: (error: unknown) => Failure): void {
  server.setErrorHandler((error, _request, reply) => {
    const { status, what, toDo, faults } = sayFailure(error);
    const movedNothing =
      error instanceof Refused || (error instanceof HoldfastError && SENT_NOTHING.includes(error.type));
    const refusal: Refusal = { error: { what, toDo, faults: [...faults], ...(movedNothing && { movedNothing }) } };
    return reply.code(status).send(refusal);
  });
  server.setNotFoundHandler(() => {
    throw new Refused(404, 'There is nothing here');
  });
}
