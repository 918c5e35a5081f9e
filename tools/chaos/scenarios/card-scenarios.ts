import type { StoreCardInput, StoreCardOutcome } from '../../../src/contract/cards.js';
import { twice } from './charge-scenarios.js';
import type { OnFile } from '../driver/driver-context.js';
import type { FlowDriver } from '../driver/flow-driver.js';
import { CARDS, EndedByOperator, goodCard, type Pick, type Scenario } from './scenario.js';

type Consent = NonNullable<StoreCardInput['consent']>;

/** Cards that are stored and used, a consent that fails, and a consent whose card is not stored. */
export const CARD_SCENARIOS: readonly Scenario[] = [
  {
    name: 'card on file, any card',
    run: async (driver, pick) => {
      const consent: Consent = { by: pick(['authorization', 'charge']), for: pick(['recurring', 'cardOnFile']) };
      const card = onFile(await driver.storeCard(pick(Object.values(CARDS)), { consent }), consent, pick);
      if (card !== undefined) await driver.another('p1').charge(card);
    },
  },
  {
    name: 'card on file, used in every way',
    run: async (driver, pick) => {
      const card = await storedCard(driver, pick);
      const [charge, hold, credit] = [driver.another('p1'), driver.another('p2'), driver.another('p3')] as const;
      await Promise.all([charge.charge(card), hold.authorize(card), credit.credit(card)]);
      await Promise.all([
        charge.command('refund', { reference: charge.reference('r1'), amount: 6_000 }),
        twice(hold, 'capture', { commandId: 'take it', reference: hold.reference('c1') }),
      ]);
      await hold.ended();
    },
  },
  {
    name: 'card that the service refuses',
    run: async (driver, pick) => {
      const consent: Consent = { by: pick(['authorization', 'charge']) };
      const onNotStored = pick(['undo', 'keep'] as const);
      const ended = await driver.storeCard(goodCard(pick), {
        consent,
        onNotStored,
        hindered: (token) => driver.external.refuseToStore(token),
      });
      // The planted fault may have been removed by then.
      if (ended.status !== 'consentedNotStored') return;
      const charged = onNotStored === 'undo' ? 'refunded' : 'kept';
      const wanted = consent.by === 'authorization' ? 'voided' : charged;
      driver.expect(ended.money.status === wanted, `its consent is ${ended.money.status}, and not ${wanted}`);
    },
  },
  {
    name: 'card taken off file',
    run: async (driver, pick) => {
      const card = await storedCard(driver, pick);
      await driver.removeCard(card);
      driver.expect(!(await driver.isOnFile(driver.reference('buyer'), card.token)), 'its removed card is on file');
    },
  },
];

/** Stores a card with a consent that succeeds. */
export async function storedCard(
  driver: FlowDriver,
  pick: Pick,
  card = goodCard(pick),
  buyer?: string,
): Promise<OnFile> {
  const consent: Consent = { by: pick(['authorization', 'charge']), for: 'recurring' };
  const ended = await driver.storeCard(card, { consent, ...(buyer !== undefined && { buyer }) });
  const stored = onFile(ended, consent, pick);
  const byPerson = driver.withoutReads && (isTooLate(ended) || ended.status === 'notExecuted');
  if (stored === undefined && byPerson) throw new EndedByOperator();
  if (stored === undefined) throw new Error(`its card is not on file: ${ended.status}`);
  return stored;
}

/** An operator settled the consent after the token had expired, since nothing could be read and no event came. */
function isTooLate(ended: StoreCardOutcome): boolean {
  return (
    ended.status === 'consentedNotStored' && ended.code === 'tokenExpired' && ended.evidence.knownBy === 'operator'
  );
}

function onFile(ended: StoreCardOutcome, { for: purpose }: Consent, pick: Pick): OnFile | undefined {
  if (ended.status !== 'stored') return undefined;
  const { customerId, token, consentTransactionId } = ended;
  const entryMode =
    purpose === 'recurring'
      ? 'recurring_subsequent_transaction'
      : pick(['cof_cardholder_initiated_transaction', 'cof_merchant_initiated_transaction'] as const);
  return {
    customerId,
    token,
    cardOnFile: { entryMode, ...(consentTransactionId !== undefined && { consentTransactionId }) },
  };
}
