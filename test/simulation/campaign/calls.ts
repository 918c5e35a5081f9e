import { setTimeout as sleep } from 'node:timers/promises';
import { TerminatedFailure, WorkflowFailedError } from '@temporalio/client';
import type { Told } from '../../../tools/chaos/mixed/account.js';
import type { Desk } from '../../../tools/chaos/mixed/desk.js';
import { askPatiently } from '../../../tools/chaos/mixed/patience.js';
import type { ChargeInput } from '../../../src/contract/charge.js';
import type { Outcome } from '../../../src/contract/outcomes.js';
import type { Scene } from './scenario.js';

/** What the courses of events share: how they ask, and how other programs than our client do. */

const MINUTE_MS = 60_000;

export function patience({ parts }: Scene) {
  const { longestPauseMs, waitForMs } = parts;
  return { limit: () => parts.limit(), pauseMs: 250, longestPauseMs, waitForMs };
}

export async function chargeInput(
  { account }: Desk,
  { parts, unit }: Scene,
  cardNumber: string,
  withCvv = false,
): Promise<ChargeInput> {
  const cvv = withCvv ? { cvv: '123' } : {};
  const { token, encryptedCvv } = await parts.sandbox.tokenize({ cardNumber, publicKey: unit.publicKey, ...cvv });
  return {
    reference: account.reference,
    amount: account.amount,
    currency: account.currency,
    businessUnit: account.businessUnit,
    paymentMethod: { type: 'tokenized', token, ...(encryptedCvv !== undefined && { encryptedCvv }) },
  };
}

/** Asks until it is final, and notes what was told in the books of the desk. */
export async function ask(
  { account }: Desk,
  scene: Scene,
  what: 'charge',
  call: (waitFor: number) => Promise<Outcome>,
): Promise<Told> {
  const told: Told = { what, expected: 'any' };
  account.told.push(told);
  const refusal = await askPatiently(patience(scene), call, (answer) => {
    told.answer = answer;
    return ['pending', 'unknown', 'underReview'].includes(answer.status) ? 'ask again' : 'enough';
  });
  if (refusal !== undefined) {
    told.refusal = refusal;
    delete told.answer;
    account.wrongs.push(`${what}: ${refusal.type} ${refusal.message}`);
  } else {
    account.outcome = told.answer as NonNullable<typeof account.outcome>;
    if (told.answer?.paymentId !== undefined) account.paymentId = told.answer.paymentId;
  }
  return told;
}

/** The result of a flow, whichever run has it: a reset ends the one that was waited for. */
export async function resultOf({ simulation }: Scene, workflowId: string): Promise<unknown> {
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
export async function persist<Result>({ random }: Scene, attempt: () => Promise<Result>): Promise<Result | undefined> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      return await attempt();
    } catch {
      await sleep(random.int(1_000, MINUTE_MS));
    }
  }
  return undefined;
}
