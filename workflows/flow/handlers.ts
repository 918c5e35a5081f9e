import {
  ApplicationFailure,
  CancellationScope,
  condition,
  currentUpdateInfo,
  setDefaultSignalHandler,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { z } from 'zod';
import { durationMs } from '../../src/contract/duration.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { faultsOf } from '../../src/contract/fields.js';
import type { OutcomeRequest, SettleManually } from '../../src/contract/messages.js';
import {
  outcomeRequestSchema,
  retryNowSchema,
  settleManuallySchema,
  transactionEventSchema,
} from '../../src/contract/messages.js';
import type { SharedSchema } from '../../src/contract/shared-schema.js';
import { isUndecodable } from '../../src/contract/undecodable.js';
import {
  explainQuery,
  outcomeUpdate,
  retryNowUpdate,
  settleManuallyUpdate,
  statusQuery,
  transactionEventSignal,
} from '../messages.js';
import { explain } from './explain.js';
import { flowStatus } from './flow-status.js';
import type { FlowState, SettleCommand } from './state.js';
import { ignore, presentOutcome } from './state.js';

const DEFAULT_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 86_400_000;
/** An operator has at most a handful of decisions to make; more is a script gone wild. */
const MAX_COMMANDS = 100;

/**
 * Registers every handler of a money flow. Must run before the first await: an update whose handler is
 * missing when its activation ends is rejected. Handlers put letters into the mailbox and wait; only
 * the main loop acts.
 */
export function registerHandlers(flow: FlowState): void {
  setHandler(statusQuery, () => flowStatus(flow), { description: 'Status, wait and outcome as JSON' });
  setHandler(explainQuery, () => explain(flow), { description: 'What it waits for and what is safe to do' });

  setHandler(transactionEventSignal, (payload) => {
    const event = transactionEventSchema.safeParse(payload);
    if (!event.success) ignore(flow, 'malformedEvent');
    else if (flow.outcome !== undefined) ignore(flow, 'eventAfterEnd');
    else flow.mailbox.push({ kind: 'event', event: event.data });
  });
  setDefaultSignalHandler(() => ignore(flow, 'unknownSignal'));

  setHandler(outcomeUpdate, (request) => whateverIsCancelled(() => answerOutcome(flow, request)), {
    validator: (request) => validateOutcomeRequest(flow, request),
    description: 'The outcome, or an honest "unknown" after waitFor',
  });

  setHandler(
    retryNowUpdate,
    async () => {
      flow.mailbox.push({ kind: 'retryNow' });
      const woken = `Woken: ${explain(flow)}`;
      await whateverIsCancelled(() => condition(() => !flow.inLocalTry));
      return woken;
    },
    {
      validator: (request) => {
        parse(retryNowSchema, request);
        refuseWhenEnded(flow);
      },
      description: 'Looks at once instead of waiting for the next poll or back-off',
    },
  );

  setHandler(settleManuallyUpdate, (request) => whateverIsCancelled(() => settleManually(flow, request)), {
    validator: (request) => validateSettle(flow, request),
    description: 'States what an operator found out; the flow reads once more before it believes it',
  });
}

/** A cancelled flow goes on, and so do the questions to it: handlers run in the scope that a cancel reaches. */
function whateverIsCancelled<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
  return CancellationScope.nonCancellable(answer);
}

function validateOutcomeRequest(flow: FlowState, request: OutcomeRequest): void {
  const { type, fingerprint } = parse(outcomeRequestSchema, request);
  if (type !== flow.type || fingerprint !== flow.fingerprint) {
    throw ApplicationFailure.nonRetryable(
      `Reference "${flow.reference}" already belongs to a ${flow.type} with another input; use a new reference`,
      FAILURE_TYPES.referenceConflict,
    );
  }
}

async function answerOutcome(flow: FlowState, request: OutcomeRequest) {
  const waitMs = durationMs(request.waitFor ?? DEFAULT_WAIT_MS) ?? DEFAULT_WAIT_MS;
  const known = (): boolean => flow.outcome !== undefined || flow.failure !== undefined || flow.status === 'pending';
  let timeIsUp = waitMs === 0;
  const answerable = (): boolean => !flow.inLocalTry && (known() || timeIsUp);
  const timer = new CancellationScope({ cancellable: true });
  if (!known() && !timeIsUp) {
    const sleeping = timer.run(() => sleep(Math.min(waitMs, LONGEST_WAIT_MS), { summary: 'Until the caller is told' }));
    sleeping.then(
      () => (timeIsUp = true),
      () => undefined,
    );
  }
  // One condition from the beginning: handlers are woken, and so answer, in the order in which they came.
  await condition(answerable);
  timer.cancel();
  if (flow.failure !== undefined) throw flow.failure;
  return presentOutcome(flow);
}

function validateSettle(flow: FlowState, request: SettleManually): void {
  parse(settleManuallySchema, request);
  if (request.commandId !== undefined && flow.commands.has(request.commandId)) return;
  refuseWhenEnded(flow);
  if (!flow.settleable) {
    throw refused(
      'the charge is still being tried with its idempotency key; wait until that has ended, or use retryNow',
    );
  }
  if (flow.commands.size >= MAX_COMMANDS) throw refused(`this flow has already been given ${MAX_COMMANDS} commands`);
}

/** A repeated command id joins the first one and gets its answer. */
async function settleManually(flow: FlowState, request: SettleManually) {
  const commandId = request.commandId ?? currentUpdateInfo()?.id ?? String(flow.commands.size);
  let command = flow.commands.get(commandId);
  if (command === undefined) {
    const made: SettleCommand = { commandId, request };
    flow.commands.set(commandId, made);
    flow.mailbox.push({ kind: 'settle', command: made });
    command = made;
  }
  const waiting = command;
  await condition(() => waiting.answer !== undefined && !flow.inLocalTry);
  const { answer } = waiting;
  if (answer === undefined || 'refusal' in answer) throw refused(answer?.refusal ?? 'the flow ended');
  return answer.outcome;
}

function refuseWhenEnded(flow: FlowState): void {
  if (flow.outcome !== undefined) throw refused(`the flow has already ended: ${flow.outcome.status}`);
  if (flow.failure !== undefined) throw refused('the flow has already ended: refused');
}

function refused(why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Refused: ${why}`, FAILURE_TYPES.stateConflict);
}

function parse<Schema extends z.ZodType>(schema: SharedSchema<Schema>, value: unknown): z.output<Schema> {
  if (isUndecodable(value)) {
    throw ApplicationFailure.nonRetryable(
      `Refused: this worker can't decode the request (${value.holdfastUndecodable}); the flow goes on`,
      FAILURE_TYPES.unexpectedResponse,
    );
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = faultsOf(parsed.error);
  throw ApplicationFailure.nonRetryable(`Refused: ${faults.join('; ')}`, FAILURE_TYPES.invalidInput, faults);
}
