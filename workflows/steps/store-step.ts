import { ApplicationFailure } from '@temporalio/workflow';
import { HOUR_MS } from '../../src/contract/time-units.js';
import type { Stored, NotStoredCode } from '../../src/contract/cards.js';
import { FAILURE_TYPES, type FailureDetails } from '../../src/contract/names.js';
import { isSealed } from '../../src/contract/payload-marks.js';
import type { PaymentMethodRecord } from '../../src/contract/records.js';
import { isNotOffered, noteRefusedRead, type RefusedReads } from '../../src/domain/absence.js';
import { OPERATOR_AFTER_MS, pollDelay } from '../../src/domain/schedules.js';
import { kept, resumable } from '../flow/continue.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { nextMessageOrRun, waitOn } from '../flow/inbox.js';
import { type FlowState, noteRequestId } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { engineLookup, read } from '../policies.js';
import { attempt, type Attempted } from './attempt.js';
import { classifyFailure, refusedAs } from './failures.js';
import { askOperator } from './operator.js';
import { STRAGGLER_MS } from './prove.js';

/** An unstored token expires 24 h after its creation, which was before this flow began. */
const STORE_WITHIN_MS = 23 * HOUR_MS;
/** Empty reads that show absence, the last of them later than any request could still arrive. */
const EMPTY_READS = 3;

/** A customer at the service, and the merchant's own reference of them. */
export interface CustomerIds {
  customerId: string;
  customerReference: string;
}

/** `customerId`: of a card that the run before a reset has reported as stored. */
export type StoreResult = { card: PaymentMethodRecord; customerId?: string } | Obstacle;

/**
 * The run before a reset may have reported the card as stored, and the customer may have had it removed since. That
 * report stays true: calling the card never stored would reverse the money of a consent that was used.
 */
export async function unlessReportedStored(obstacle: Obstacle): Promise<StoreResult> {
  const reported = decodedOrRetry(await engineLookup.findEarlierResult());
  if (reported?.['status'] !== 'stored') return obstacle;
  const { token, customerId, last4Digits, vendor } = reported as unknown as Stored;
  const described = { ...(last4Digits !== undefined && { last4Digits }), ...(vendor !== undefined && { vendor }) };
  return { card: { token, ...described }, customerId };
}

/**
 * Puts the card on file, before its token expires. Storing a token twice stores it once; a token that is stored
 * already, by a lost reply or an earlier flow, is an answer. It ends only when it is known whether the card is on file.
 */
export async function storeStep(flow: FlowState, customer: CustomerIds, token: string): Promise<StoreResult> {
  return await resumable(
    flow,
    'storeCard',
    (): StoreNotes => ({}),
    async (notes) => {
      if (notes.refused === undefined) {
        const stored = await tryToStore(flow, customer, token, notes);
        if ('card' in stored) return stored;
        // Whoever has put it on file since, the money of the consent is on its way back.
        if (stored.givenBack === true) return notStored(stored.lastFailure, false);
        const late = Date.now() >= flow.startedAt + STORE_WITHIN_MS;
        const { cards, obstacle } = await lookForObstacle(flow, customer.customerId, token);
        const listed = cards?.find((one) => isSame(one.token, token));
        // Whoever stored it, the consent of a card on file is not reversed.
        if (listed !== undefined) return { card: listed };
        const refused = obstacle ?? notStored(stored.lastFailure, late);
        if (cards !== undefined) return refused;
        notes.refused = refused;
      }
      const card = await readUntilKnown(flow, customer, token);
      return card === undefined ? notes.refused : { card };
    },
  );
}

/** Progress of storing, for the run that continues it. */
interface StoreNotes {
  sent?: Attempted<PaymentMethodRecord>;
  /** Storing failed, but the cards could not be read. */
  refused?: Obstacle;
}

function notStored(lastFailure: string, late: boolean): Obstacle {
  return late
    ? { code: 'tokenExpired', reason: `it could not be stored before the token expires: ${lastFailure}` }
    : { code: 'refused', reason: lastFailure };
}

async function tryToStore(
  flow: FlowState,
  customer: CustomerIds,
  token: string,
  notes: StoreNotes,
): Promise<{ card: PaymentMethodRecord } | { lastFailure: string; givenBack?: true }> {
  const { customerId } = customer;
  try {
    const sent = await kept(notes, 'sent', () =>
      attempt<PaymentMethodRecord>(flow, {
        operation: 'storeCard',
        sequence: 1,
        movesMoney: false,
        postUntil: flow.startedAt + STORE_WITHIN_MS,
        tryLocally: false,
        post: (activities, call) => activities.storePaymentMethod({ ...call, customerId, token }),
        find: () => findCard(flow, customer, token),
      }),
    );
    const card = sent.answer ?? (await readUntilKnown(flow, customer, token));
    if (card === undefined) return { lastFailure: 'lastFailure' in sent ? sent.lastFailure : '' };
    noteRequestId(flow, card.requestId);
    return { card };
  } catch (error) {
    // A believed refusal: the card is not on file.
    if (!(error instanceof ApplicationFailure)) throw error;
    const { consentGivenBack } = (error.details?.[0] ?? {}) as Partial<FailureDetails>;
    return { lastFailure: error.message, ...(consentGivenBack === true && { givenBack: true }) };
  }
}

/**
 * Reads because the answers were lost or can't be believed: a consent must not be reversed while its card is on file.
 */
async function readUntilKnown(
  flow: FlowState,
  customer: CustomerIds,
  token: string,
): Promise<PaymentMethodRecord | undefined> {
  const begin = (): CardReading => {
    enter(flow, { status: 'unknown', waitingFor: 'proof' });
    publish(flow);
    return { begun: Date.now(), reads: 0, empty: 0 };
  };
  return await resumable(flow, 'readCards', begin, (reading) => keepReading(flow, customer, token, reading));
}

interface CardReading {
  /** Epoch ms. */
  begun: number;
  reads: number;
  empty: number;
  /** Reads by which there is no such customer any more. A single one may come from a proxy or a lag. */
  gone?: RefusedReads | undefined;
}

async function keepReading(
  flow: FlowState,
  customer: CustomerIds,
  token: string,
  reading: CardReading,
): Promise<PaymentMethodRecord | undefined> {
  for (;;) {
    const message = await nextMessageOrRun(
      flow,
      pollDelay(reading.reads),
      'Until it is known whether the card is on file',
    );
    if (message?.kind === 'settle') message.command.answer = { refusal: 'no money is in question, only a card' };
    if (message?.kind === 'event') {
      ignore(flow, 'nothingUnderWay');
      waitOn(flow);
      continue;
    }
    reading.reads += 1;
    // The reference tells whether the customer is gone, once a read by its id has said so.
    const { customerReference } = customer;
    const look = await findCard(flow, customer, token, reading.gone && { customerReference });
    if ('found' in look) {
      if (look.found !== undefined) return look.found;
      reading.empty += 1;
      reading.gone = undefined;
    } else if (look.noCustomer) reading.gone = noteRefusedRead(reading.gone, Date.now(), false);
    const isAbsent = reading.empty >= EMPTY_READS || isNotOffered(reading.gone);
    if (isAbsent && Date.now() >= reading.begun + STRAGGLER_MS) return undefined;
    if (Date.now() >= reading.begun + OPERATOR_AFTER_MS) askOfCard(flow, customer, look);
  }
}

function askOfCard(flow: FlowState, { customerId }: CustomerIds, look: CardLook): void {
  const why = 'unreadable' in look ? `: ${look.unreadable}` : '';
  askOperator(
    flow,
    `the buyer has consented, and for 24 hours nothing has told whether the card is on file with customer ${customerId}${why}`,
  );
}

type CardLook = { found: PaymentMethodRecord | undefined } | { unreadable: string; noCustomer: boolean };

async function findCard(
  { businessUnit, madeUnder }: FlowState,
  { customerId }: CustomerIds,
  token: string,
  more: Partial<CustomerIds> = {},
): Promise<CardLook> {
  let cards: PaymentMethodRecord[];
  try {
    cards = await read.listPaymentMethods({ businessUnit, madeUnder, customerId, ...more });
  } catch (error) {
    const { message, error: cause } = classifyFailure(error);
    const given: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    // Whoever has access to Temporal can fail an activity.
    const noCustomer = isSealed(given) && (given as Partial<FailureDetails>).noCustomer === true;
    return { unreadable: message, noCustomer };
  }
  return { found: decodedOrRetry(cards).find((card) => isSame(card.token, token)) };
}

/** The service stores at most this many cards per customer. */
const MOST_CARDS = 100;

/** Why a card can't be put on file. */
interface Obstacle {
  code: NotStoredCode;
  reason: string;
}

/** The customer's cards on file, and what prevents storing this one. */
interface OnFile {
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
    // Whoever has access to Temporal can fail an activity.
    const refused = refusedAs(error, FAILURE_TYPES.notFound);
    if (refused !== undefined && saysSo(refused)) return 'notFound';
    ignore(flow, 'readFailed');
    return undefined;
  }
  return decodedOrRetry(answer);
}
