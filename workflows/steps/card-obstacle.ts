import { ApplicationFailure } from '@temporalio/workflow';
import type { NotStoredCode } from '../../src/contract/cards.js';
import { FAILURE_TYPES, type FailureDetails } from '../../src/contract/failure-types.js';
import type { PaymentMethodRecord } from '../../src/contract/records.js';
import { type FlowState, ignore } from '../flow/state.js';
import { read } from '../policies.js';
import { decodedOrRetry } from '../flow/decoded-or-retry.js';
import { classifyFailure } from './classify-failure.js';

/** The service stores at most this many cards per customer. */
const MOST_CARDS = 100;

/** Why a card can't be put on file. */
export interface Obstacle {
  code: NotStoredCode;
  reason: string;
}

/** The customer's cards on file, and what prevents storing this one. */
export interface OnFile {
  obstacle?: Obstacle;
  /** undefined if the cards could not be read. */
  cards: PaymentMethodRecord[] | undefined;
}

/**
 * Reads whether a token can be stored with a customer. It uses the service's records, because the wording of a refusal
 * differs from service to service. What can't be read is no obstacle: the service will refuse the card itself.
 */
export async function lookForObstacle(flow: FlowState, customerId: string, token: string): Promise<OnFile> {
  const { businessUnit, madeUnder } = flow;
  const [cards, unsaved] = await Promise.all([
    readOr(flow, read.listPaymentMethods({ businessUnit, madeUnder, customerId })),
    readOr(flow, read.getToken({ businessUnit, madeUnder, token })),
  ]);
  const listed = Array.isArray(cards) ? cards : undefined;
  if (listed?.some((card) => isSame(card.token, token)) === true) return { cards: listed };
  const obstacle = obstacleOf(listed, unsaved);
  return { cards: listed, ...(obstacle !== undefined && { obstacle }) };
}

export function isSame(token: string, other: string): boolean {
  return token.toLowerCase() === other.toLowerCase();
}

function obstacleOf(
  listed: readonly PaymentMethodRecord[] | undefined,
  unsaved: PaymentMethodRecord | 'notFound' | undefined,
): Obstacle | undefined {
  if (unsaved === 'notFound') {
    const reason = 'the token does not exist: one that is not stored expires 24 hours after it was made';
    return { code: 'tokenExpired', reason };
  }
  if (listed === undefined) return undefined;
  if (unsaved?.state === 'assigned') {
    return { code: 'storedElsewhere', reason: 'the token is on file with another customer' };
  }
  if (listed.length < MOST_CARDS) return undefined;
  return {
    code: 'cardLimit',
    reason: `the customer has ${listed.length} cards on file, and ${MOST_CARDS} is the limit`,
  };
}

/** True if the 404 names the token. Any other 404 may come from a service without this read. */
function saysSo({ details }: ApplicationFailure): boolean {
  const { moreInfo = '' } = (details?.[0] ?? {}) as Partial<FailureDetails>;
  return /\btoken\b/i.test(moreInfo);
}

async function readOr<Answer extends object>(
  flow: FlowState,
  reading: Promise<Answer>,
): Promise<Answer | 'notFound' | undefined> {
  let answer: Answer;
  try {
    answer = await reading;
  } catch (error) {
    const { error: cause } = classifyFailure(error);
    if (cause instanceof ApplicationFailure && cause.type === FAILURE_TYPES.notFound && saysSo(cause))
      return 'notFound';
    ignore(flow, 'readFailed');
    return undefined;
  }
  return decodedOrRetry(answer);
}
