import type { Stored } from '../../src/contract/cards.js';
import { showMoney } from '../../src/domain/money.js';
import {
  ProblemError,
  REPLY_OR_EVENT,
  SUCCEEDS,
  type DemoFlow,
  AMOUNT,
  CURRENCY,
  PRICE,
  WAIT,
  type DemoStep,
} from './demo-step.js';

/** Minor units. The mock provider approves every void from 50.00. */
export const CONSENTED = 6_000;
const HELD = 12_500;

const money = (amount: number): string => showMoney(amount, CURRENCY);
const movement = (kind: string, amount: number) => ({ kind, amount, currency: CURRENCY });

/** Stores the buyer's card, as a merchant does before the first payment without the buyer. */
export async function storeCard(step: DemoStep, reference: string): Promise<Stored> {
  const businessUnit = step.world?.businessUnit ?? 'default';
  const customer = { customerReference: step.reference };
  const input = { ...(await step.input(SUCCEEDS, CONSENTED)), reference, businessUnit, customer };
  const answer = await step.end(await step.holdfast.storeCard(input, WAIT), reference);
  if (answer.status === 'stored') return answer;
  throw new ProblemError(`its card is not on file: the consent ended ${answer.status}`);
}

/** @param onStored called once the card is on file */
export const card = (onStored: (card: Stored) => void): DemoFlow => ({
  name: 'card',
  title: 'A card is put on file by a consent of the buyer, and charged later without the buyer',
  success: 'card on file, charged',
  expected: {
    status: 'succeeded',
    knownBy: REPLY_OR_EVENT,
    moved: [movement('authorization', CONSENTED), movement('void', CONSENTED), movement('charge', AMOUNT)],
  },
  async run(step) {
    const stored = await storeCard(step, step.reference);
    onStored(stored);
    step.step(
      `the buyer consents by a hold of ${money(CONSENTED)}, which is released again: nothing is taken, and card **** ` +
        `${stored.last4Digits ?? ''} is on file`,
    );
    const reference = step.laterReference();
    const charge = { ...byCard(stored), reference, amount: AMOUNT };
    const cardOnFile = { ...charge.cardOnFile, entryMode: 'cof_merchant_initiated_transaction' as const };
    step.step(`later the merchant asks for ${PRICE} by the stored token and the id of that consent`);
    return await step.end(await step.holdfast.charge({ ...charge, cardOnFile }, WAIT), reference);
  },
});

/** @param onFile resolves with undefined if no card could be stored */
export const reauthorized = (onFile: Promise<Stored | undefined>): DemoFlow => ({
  name: 'reauthorized',
  title: 'A hold on that card is reauthorized, because the goods come later than it lasts',
  after: onFile,
  expected: {
    status: 'captured',
    knownBy: REPLY_OR_EVENT,
    moved: ['authorization', 'void', 'authorization', 'capture'].map((kind) => movement(kind, HELD)),
  },
  async run(step) {
    const stored = await onFile;
    if (stored === undefined) throw new ProblemError('there is no card on file that it could be made with');
    const hold = { ...byCard(stored), reference: step.reference, amount: HELD };
    const cardOnFile = { ...hold.cardOnFile, entryMode: 'cof_cardholder_initiated_transaction' as const };
    const held = await step.holdfast.authorize({ ...hold, cardOnFile }, WAIT);
    step.step(`${money(HELD)} are held, and the buyer has gone`);
    const reauthorized = await step.holdfast.reauthorize(step.reference, { why: 'on back order' }, WAIT);
    if (reauthorized.status !== 'succeeded') throw new ProblemError(`its new authorization is ${reauthorized.status}`);
    step.step(
      'reauthorize: the old hold is voided, the service asked until it shows that, and only then the same is held ' +
        'again, on a payment of its own',
    );
    await step.holdfast.capture(step.reference, {}, WAIT);
    step.step('the goods are sent: capture');
    return await step.end(held);
  },
});

function byCard({ customerId, token, consentTransactionId }: Stored) {
  return {
    currency: CURRENCY,
    customerId,
    paymentMethod: { type: 'tokenized' as const, token },
    cardOnFile: { ...(consentTransactionId !== undefined && { consentTransactionId }) },
  };
}
