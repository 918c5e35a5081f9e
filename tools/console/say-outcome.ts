import { showMoney } from '../../src/domain/money.js';
import type { Evidence } from '../../src/contract/outcome.js';
import type { Said } from './answers.js';
import type { Holdfast } from './holdfast.js';
import { sayStatus } from './texts.js';

type Outcome =
  | Awaited<ReturnType<Holdfast['charge']>>
  | Awaited<ReturnType<Holdfast['authorize']>>
  | Awaited<ReturnType<Holdfast['storeCard']>>;

type CommandOutcome = Awaited<ReturnType<Holdfast['capture']>>;

/** False while money may still move: the same request, sent again, asks how it ended. */
export function isKnown({ status }: { status: string }): boolean {
  return status !== 'pending' && status !== 'unknown';
}

/** A decline that nobody has confirmed may have moved the money. */
export function movedNothing(outcome: CommandOutcome): boolean {
  return outcome.status === 'notExecuted' || (outcome.status === 'declined' && outcome.confirmed);
}

/** The answer to a checkout. */
export function sayOutcome(outcome: Outcome): Said {
  const said = sayStatus(outcome.status, 'waitingFor' in outcome ? outcome.waitingFor : null);
  const money = showMoney(outcome.amount, outcome.currency);
  switch (outcome.status) {
    case 'succeeded':
      return { ...said, what: `Succeeded: ${money} taken`, known: knownBy(outcome.evidence) };
    case 'declined':
      return outcome.confirmed
        ? { ...said, what: `Declined: ${reasonOf(outcome)}. Nothing was taken`, toDo: RETRY[outcome.retryable] }
        : { ...said, ...UNCONFIRMED, what: `Declined: ${reasonOf(outcome)}, ${NOT_CONFIRMED}` };
    case 'notExecuted':
      return { ...said, what: `${said.what} (${outcome.reason})` };
    case 'authorized':
      return { ...said, what: `${money} held`, toDo: `Capture or void it by ${minuteOf(outcome.captureBy)}.` };
    default:
      return { ...said, what: `${said.what}: ${money}` };
  }
}

/** The answer to a capture, a void or a refund. */
export function sayCommand(name: string, outcome: CommandOutcome): Said {
  const said = sayStatus(outcome.status, 'waitingFor' in outcome ? outcome.waitingFor : null);
  const isUnconfirmed = outcome.status === 'declined' && !outcome.confirmed;
  const why =
    outcome.status === 'declined' ? ` (${reasonOf(outcome)})${isUnconfirmed ? `, ${NOT_CONFIRMED}` : ''}` : '';
  const { amount, currency } = outcome;
  const money = amount === undefined ? 'all that is left' : showMoney(amount, currency);
  return {
    ...said,
    ...(isUnconfirmed && UNCONFIRMED),
    what: `${name} of ${money}: ${said.what.toLowerCase()}${why}`,
  };
}

const NOT_CONFIRMED = 'which nobody has confirmed: money may have moved';
const UNCONFIRMED = {
  tone: 'person',
  toDo: 'Look at the payment service whether money moved, before anything is repeated.',
} as const;

const RETRY = {
  newReference: 'The same card may be tried again under a new reference.',
  newCard: 'Ask the buyer for another card.',
  nobody: 'It must not be tried again as it is.',
} as const;

const KNOWN_BY = {
  reply: 'by the reply of the service',
  webhook: 'by a signed webhook',
  poll: 'by asking the service',
  operator: 'by an operator',
} as const;

function knownBy({ knownBy: by, attempts }: Evidence): string {
  return attempts < 2 ? KNOWN_BY[by] : `${KNOWN_BY[by]}, sent ${attempts} times under one key`;
}

/** "insufficient funds" */
function reasonOf({ category, subCategory = category }: { category: string; subCategory?: string }): string {
  return subCategory.replaceAll('_', ' ');
}

function minuteOf(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`;
}
