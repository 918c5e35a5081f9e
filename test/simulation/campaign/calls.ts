import { setTimeout as sleep } from 'node:timers/promises';
import { TerminatedFailure, WorkflowFailedError } from '@temporalio/client';
import type { Operation } from '../../../tools/audit/payment-record.js';
import type { FlowDriver } from '../../../tools/chaos/driver/flow-driver.js';
import { askUntilAnswered } from '../../../tools/chaos/driver/driver-context.js';
import type { ChargeInput } from '../../../src/contract/charge.js';
import type { Outcome } from '../../../src/contract/messages.js';
import type { ScenarioContext } from './scenario.js';

/** What the courses of events share: how they ask, and how other programs than our client do. */

const MINUTE_MS = 60_000;

export function retryBudget({ parts }: ScenarioContext) {
  const { longestPauseMs, waitForMs } = parts;
  return { limit: () => parts.limit(), pauseMs: 250, longestPauseMs, waitForMs };
}

export async function chargeInput(
  { record }: FlowDriver,
  { parts, unit }: ScenarioContext,
  cardNumber: string,
  withCvv = false,
): Promise<ChargeInput> {
  const cvv = withCvv ? { cvv: '123' } : {};
  const { token, encryptedCvv } = await parts.sandbox.tokenize({ cardNumber, publicKey: unit.publicKey, ...cvv });
  return {
    reference: record.reference,
    amount: record.amount,
    currency: record.currency,
    businessUnit: record.businessUnit,
    paymentMethod: { type: 'tokenized', token, ...(encryptedCvv !== undefined && { encryptedCvv }) },
  };
}

/** Asks until it is final, and notes what was told in the ledger of the driver. */
export async function ask(
  { record }: FlowDriver,
  context: ScenarioContext,
  what: 'charge',
  call: (waitFor: number) => Promise<Outcome>,
): Promise<Operation> {
  const operation: Operation = { what, expected: 'any' };
  record.operations.push(operation);
  const refusal = await askUntilAnswered(retryBudget(context), call, (answer) => {
    operation.answer = answer;
    return ['pending', 'unknown', 'underReview'].includes(answer.status) ? 'ask again' : 'enough';
  });
  if (refusal !== undefined) {
    operation.refusal = refusal;
    delete operation.answer;
    record.violations.push(`${what}: ${refusal.type} ${refusal.message}`);
  } else {
    record.outcome = operation.answer as NonNullable<typeof record.outcome>;
    if (operation.answer?.paymentId !== undefined) record.paymentId = operation.answer.paymentId;
  }
  return operation;
}

/** The result of a flow, whichever run has it: a reset ends the one that was waited for. */
export async function resultOf({ simulation }: ScenarioContext, workflowId: string): Promise<unknown> {
  for (;;) {
    try {
      return await simulation.client.workflow.getHandle(workflowId).result();
    } catch (error) {
      if (!(error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure)) throw error;
      await sleep(MINUTE_MS);
    }
  }
}

/** Tries a call of another program again until it works; undefined after an hour. */
export async function persist<Result>(
  { random }: ScenarioContext,
  attempt: () => Promise<Result>,
): Promise<Result | undefined> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      return await attempt();
    } catch {
      await sleep(random.int(1_000, MINUTE_MS));
    }
  }
  return undefined;
}
