import fc from 'fast-check';
import { SUBSCRIPTION_REFERENCE_PATTERN } from '../../src/contract/subscription.js';
import { FLOWS } from '../../src/contract/flows.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';

/** Valid at every flow. */
const reference = fc.stringMatching(SUBSCRIPTION_REFERENCE_PATTERN).filter((text) => !text.startsWith('actions-'));
const uuid = fc.uuid().chain((id) => fc.constantFrom(id, id.toUpperCase()));
const customerId = fc.oneof(uuid, fc.stringMatching(/^[A-Za-z0-9_:-]{1,20}$/));
const unit = { businessUnit: fc.stringMatching(/^[A-Za-z0-9_.-]{1,12}$/) };
const money = { amount: fc.integer({ min: 1 }), currency: fc.constantFrom('USD', 'EUR', 'JPY', 'KWD') };
const paymentMethod = fc.record({ type: fc.constant('tokenized' as const), token: uuid });
const statementSoftDescriptor = fc.constantFrom('SHOP', 'CLUB');
const payment = { reference, ...money, ...unit };
const made = { ...payment, paymentMethod, customerId, statementSoftDescriptor };
const needed = ['reference', 'amount', 'currency', 'paymentMethod'] as const;

const charge = fc.record(made, { requiredKeys: [...needed] });
const { customerId: _none, ...withoutCustomer } = made;
const customer = fc.record({ customerReference: fc.oneof(uuid, fc.string({ minLength: 1, maxLength: 20 })) });
const consent = fc.record({ by: fc.constantFrom('authorization' as const, 'charge' as const) });
const storeCard = fc.record({ ...withoutCustomer, customer, consent }, { requiredKeys: [...needed, 'customer'] });
const dunning = fc.record(
  {
    retryDays: fc.constantFrom([1], [1, 3], [2, 5]),
    localHour: fc.integer({ min: 0, max: 23 }),
    onGivenUp: fc.constantFrom('cancel' as const, 'pause' as const, 'continue' as const),
  },
  { requiredKeys: [] },
);
const subscription = fc.record(
  {
    ...payment,
    token: uuid,
    customerId,
    interval: fc.record({
      every: fc.integer({ min: 1, max: 3 }),
      unit: fc.constantFrom('week' as const, 'month' as const, 'year' as const),
    }),
    anchor: fc.constantFrom('2027-01-31', '2027-03-01'),
    timeZone: fc.constantFrom('Europe/Rome', 'America/New_York'),
    billAt: fc.constantFrom('10:00', '06:30'),
    trialDays: fc.integer({ min: 0, max: 14 }),
    billedThrough: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom('2027-03-01', '2027-04-15')),
    periods: fc.integer({ min: 9, max: 99 }),
    missedPeriods: fc.constantFrom('billAll' as const, 'billLatest' as const, 'skip' as const),
    dunning,
    jitter: fc.constantFrom('1 hour', '15 minutes', 0),
    amounts: fc.integer({ min: 2, max: 9 }).map((fromPeriod) => [{ fromPeriod, amount: fromPeriod * 100 }]),
    statementSoftDescriptor,
  },
  {
    requiredKeys: ['reference', 'amount', 'currency', 'token', 'customerId', 'interval', 'anchor', 'timeZone'],
  },
);
const card = { customerId, commandId: fc.stringMatching(/^[A-Za-z0-9_.-]{1,20}$/), ...unit };

/** Inputs of each flow that can be asked for again, as the flow works with them: defaults filled in. */
export const INPUTS = {
  charge: charge.map((input) => FLOWS.charge.schema.parse(input)),
  authorizeAndCapture: charge.map((input) => FLOWS.authorizeAndCapture.schema.parse(input)),
  credit: charge.map((input) => FLOWS.credit.schema.parse(input)),
  storeCard: storeCard.map((input) => FLOWS.storeCard.schema.parse(input)),
  analyseRisk: fc
    .record(made, { requiredKeys: ['reference', 'amount', 'currency'] })
    .map((input) => FLOWS.analyseRisk.schema.parse(input)),
  paymentActions: fc
    .record({ paymentId: uuid, currency: money.currency, ...unit }, { requiredKeys: ['paymentId', 'currency'] })
    .map((input) => FLOWS.paymentActions.schema.parse(input)),
  resolvePending: fc
    .record({ paymentId: uuid, transactionId: uuid, kind: fc.constantFrom(...TRANSACTION_KINDS), ...money, ...unit })
    .map((input) => FLOWS.resolvePending.schema.parse(input)),
  subscription: subscription.map((input) => FLOWS.subscription.schema.parse(input)),
  listCards: fc.record(card).map((input) => FLOWS.listCards.schema.parse(input)),
  removeCard: fc.record({ ...card, token: uuid }).map((input) => FLOWS.removeCard.schema.parse(input)),
};
