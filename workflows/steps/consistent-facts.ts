import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { listsLag, sumsOf } from '../../src/domain/payment-sums.js';
import { OPERATOR_AFTER_MS } from '../../src/domain/schedules.js';
import { nextLetter } from '../flow/mailbox.js';
import type { FlowState, Refusal } from '../flow/state.js';
import { ignore } from '../flow/state.js';
import { actionsOf } from './earlier-actions.js';
import { askOperator, pollWait } from './operator.js';
import type { Creator, ReadFacts } from './read-facts.js';
import { readFacts } from './read-facts.js';

const ASK_OPERATOR_AFTER_READS = 6;

/**
 * The payment as the service shows it, once all that is asked answers and its lists fit its state. Nothing has been
 * sent so far, so that a command may still be refused: other commands must not wait behind it for ever.
 */
export async function consistentFacts(flow: FlowState, creator: Creator): Promise<ReadFacts | Refusal> {
  for (let reads = 0; ; reads += 1) {
    const facts = await readFacts(flow, creator);
    if ('refusal' in facts) return facts;
    const unreadable = 'unreadable' in facts;
    if (unreadable && facts.notFound)
      return { refusal: `nothing was sent: ${facts.unreadable}`, type: FAILURE_TYPES.notFound };
    if (!unreadable && facts.currency !== flow.currency) {
      const refusal = `currency: the payment is over ${facts.currency}, not ${flow.currency}; nothing was sent`;
      return { refusal, type: FAILURE_TYPES.invalidInput };
    }
    if (!unreadable && !listsLag(facts, sumsOf(facts, actionsOf(flow, creator)))) return facts;
    const why = unreadable ? facts.unreadable : 'its lists do not fit its state';
    if (Date.now() >= flow.stepStartedAt + OPERATOR_AFTER_MS) {
      const refusal = `nothing was sent, since the payment could not be read for 24 hours: ${why}`;
      return { refusal, type: FAILURE_TYPES.providerUnavailable };
    }
    if (reads === ASK_OPERATOR_AFTER_READS) askOperator(flow, `nothing is sent before the payment can be read: ${why}`);
    const letter = await nextLetter(flow, pollWait(flow, reads), 'Until the payment can be read');
    if (letter?.kind === 'settle') letter.command.answer = { refusal: 'nothing has been sent yet' };
    else if (letter?.kind === 'event') ignore(flow, 'nothingSentYet');
  }
}
