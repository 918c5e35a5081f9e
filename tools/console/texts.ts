import type { HoldfastErrorType } from '../../src/client/errors.js';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';
import type { Said, Tone } from './answers.js';

const NOTHING = 'Nothing.';
const WAIT = 'Nothing: it goes on by itself.';
const NO_REPEAT = 'Never repeat it under a new reference.';

/** What each status means, and what to do about it. */
const STATUSES: Readonly<Record<PaymentStatus, readonly [what: string, tone: Tone, toDo: string]>> = {
  started: ['Started', 'waiting', WAIT],
  underReview: ['Under risk review', 'waiting', 'Nothing, or end the review as the risk provider or an operator.'],
  authorized: ['The money is held', 'waiting', 'Capture it or void it; at the deadline the hold is released.'],
  capturing: ['The held money is being captured', 'waiting', WAIT],
  voiding: ['The hold is being voided', 'waiting', WAIT],
  refunding: ['Money is being refunded', 'waiting', WAIT],
  pending: ['Pending at the provider', 'waiting', 'Nothing: a webhook or a read of the service ends it.'],
  unknown: ['Not known yet', 'waiting', `Nothing: it reads until it knows. ${NO_REPEAT}`],
  succeeded: ['Succeeded', 'good', NOTHING],
  declined: ['Declined', 'bad', 'Its own words say whether another card, or a new reference, may help.'],
  notExecuted: [
    'Not executed: it is proven that no money moved',
    'bad',
    'Repeat it under a new reference if you like.',
  ],
  captured: ['Captured', 'good', NOTHING],
  stored: ['The card is on file', 'good', NOTHING],
  consentedNotStored: ['The buyer consented, but the card is not on file', 'bad', 'Ask the buyer for the card again.'],
  voided: ['Voided: the hold was released, nothing was taken', 'neutral', NOTHING],
  expired: ['Expired: the hold ended before anything was taken', 'neutral', NOTHING],
  approve: ['Risk analysis: approved', 'good', NOTHING],
  review: ['Risk analysis: to be reviewed', 'waiting', 'Nothing, or end the review.'],
  decline: ['Risk analysis: declined', 'bad', NOTHING],
  idle: ['All commands are executed', 'neutral', NOTHING],
  parked: ['An event without a flow is kept', 'waiting', 'Nothing: its flow is looked for again.'],
  delivered: ['The event was delivered', 'good', NOTHING],
  unclaimed: ['No flow claimed the event', 'person', 'Look the payment up: npx holdfast events list.'],
  undelivered: ['A notification was given up', 'person', 'Mend the endpoint, then: npx holdfast notifications resend.'],
  refused: ['Refused before any money moved', 'bad', 'Mend what it says, and use a new reference.'],
  cancelled: ['Cancelled', 'neutral', NOTHING],
  active: ['Active', 'good', NOTHING],
  billing: ['A period is being billed', 'waiting', WAIT],
  pastDue: ['Past due: the bill was declined', 'bad', 'Nothing: it is tried again. Another card is tried at once.'],
  paused: ['Paused', 'neutral', 'Resume it when billing may go on.'],
  completed: ['Completed: all periods are billed', 'good', NOTHING],
  givenUp: ['Ended: a bill was not paid', 'bad', 'Ask the subscriber for another card.'],
  reconciling: ['Flows are being compared with the payment service', 'waiting', WAIT],
  reconciled: ['Reconciled', 'good', NOTHING],
  found: ['A difference from the payment service', 'person', 'Look into it: npx holdfast reconcile list.'],
  acknowledged: ['A difference that a person has acknowledged', 'neutral', NOTHING],
};

const WAITS: Readonly<Record<WaitingFor, string | undefined>> = {
  provider: 'an answer of the payment service',
  settlement: 'the end of what is pending: a webhook, a read or an operator',
  proof: 'proof of what happened: it reads until it knows',
  redirect: 'the buyer, who was redirected and must return',
  capture: 'a capture or a void, until its deadline',
  captureSoonDue: 'a capture or a void, with the deadline near',
  review: 'the end of the risk review',
  command: 'the next command',
  flow: 'the flow of the event',
  period: 'the next period',
  retry: 'the next try of the declined bill',
  card: 'another card',
  amount: 'the amount of the metered bill',
  approval: 'another person, who approves or rejects it by its deadline: nothing is sent before',
  credentials: 'the right key of the payment service: it was refused',
  brake: 'the release of its business unit: npx holdfast brakes says who has braked it, and why',
  referenceBook: 'the reference book, which does not answer: nothing is sent before',
  operator: 'an operator',
  nothing: undefined,
};

const LOOK = 'A person must look: the flow’s own words, and npx holdfast explain, say what is safe.';

/** What to do where nothing goes on by itself. */
const BY_A_PERSON: Readonly<Partial<Record<WaitingFor, string>>> = {
  card: 'Ask the subscriber for another card: nothing is tried before.',
  amount: 'Set the amount of the bill: nothing is billed before.',
  approval: 'Approve or reject it, as another person: npx holdfast approve, or reject.',
  credentials: `Put the key of the payment service right: then it goes on. ${NO_REPEAT}`,
  brake: `Release the business unit once what is wrong there is mended (npx holdfast release): then it goes on. ${NO_REPEAT}`,
  operator: LOOK,
};

/** Says what a flow's status and wait mean. Unknown words, of a newer worker, are shown as they are. */
export function sayStatus(status: string | null, waitingFor: string | null): Said {
  const [what, tone, toDo] = STATUSES[status as PaymentStatus] ?? [
    status ?? 'Started',
    'neutral',
    'Read what it says.',
  ];
  const waitsFor = WAITS[waitingFor as WaitingFor];
  const byPerson = BY_A_PERSON[waitingFor as WaitingFor];
  return {
    what,
    ...(byPerson === undefined ? { tone, toDo } : { tone: 'person', toDo: byPerson }),
    ...(waitsFor !== undefined && { waitsFor }),
  };
}

/** Of a flow that an operator is asked about, also once it has ended. */
export function forOperator(said: Said): Said {
  return said.tone === 'person' ? said : { ...said, tone: 'person', toDo: LOOK };
}

/** Of a flow that is paused in Temporal. */
export function forWhoPaused(said: Said): Said {
  return {
    ...said,
    tone: 'person',
    toDo: `It is paused in Temporal: nothing of it goes on until somebody lets it (temporal workflow unpause). ${NO_REPEAT}`,
  };
}

/** Of a flow that was terminated, or failed without a status of its own. */
export function sayStopped(execution: string): Said {
  return {
    what:
      execution === 'failed' ? 'Failed before it said anything of its money' : `Stopped from outside (${execution})`,
    tone: 'person',
    toDo: 'Nobody follows its money any more: look the payment up before you repeat anything.',
  };
}

export const TO_DO_AFTER_ERROR: Readonly<Record<HoldfastErrorType, string>> = {
  InvalidInput: 'Mend what is listed. If the flow itself failed with it, use a new reference.',
  ReferenceConflict:
    'Ask what became of it first: a new reference is only for another order, or once it has taken nothing.',
  CredentialsRejected: 'Put the key of the payment service right; the flow goes on then.',
  NotFound: 'Mend the input: the service does not know what it names.',
  StateConflict: 'Read what the payment says of itself; its state allows something else.',
  ProviderUnavailable: 'Give the same command again: the service could not be asked.',
  RateLimited: 'Give it again later: the flow did not take it.',
  OutcomeUnknown: 'Ask again with the same reference.',
  AmountMismatch: 'An operator must settle it: the service answered with another amount.',
  UnexpectedResponse: 'Give this process and the worker the same HOLDFAST_ENCRYPTION_KEYS, and ask again.',
  EngineUnavailable: 'Ask again with the same reference, never with a new one: the flow may have started.',
  FlowNotFound: 'Check the reference.',
  FlowStopped: 'Ask an operator: nobody follows its money any more.',
};
