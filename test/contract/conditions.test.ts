import { describe, expect, test } from 'vitest';
import { authorizeInputSchema } from '../../src/contract/authorize.js';
import { storeCardInputSchema } from '../../src/contract/cards.js';
import { chargeInputSchema } from '../../src/contract/charge.js';
import { givesConsent, LATER_ENTRY_MODES, usesStoredCard } from '../../src/contract/payment-input.js';
import { analyseRiskInputSchema } from '../../src/contract/risk.js';
import { faults, MINIMAL, type Schema } from './examples.js';

const STORED = { cardOnFile: { entryMode: 'cof_merchant_initiated_transaction' } };
const NEEDS_STORED_CARD =
  'needs a stored card, that is a cardOnFile.entryMode of cof_cardholder_initiated_transaction, ' +
  'cof_merchant_initiated_transaction, recurring_subsequent_transaction';

describe('the input of a hold', () => {
  test.each<[string, object, string[]]>([
    ['that is released at its deadline', { onDeadline: 'void' }, []],
    ['that is captured at its deadline', { onDeadline: 'capture', captureDeadline: '1 minute' }, []],
    ['reauthorized at its deadline', { onDeadline: 'reauthorize' }, [`onDeadline: ${NEEDS_STORED_CARD}`]],
    [
      'reauthorized at its deadline, with its terms',
      { onDeadline: 'reauthorize', reauthorization: {} },
      [`onDeadline: ${NEEDS_STORED_CARD}`],
    ],
    ['reauthorized when asked', { reauthorization: {} }, [`reauthorization: ${NEEDS_STORED_CARD}`]],
    [
      'reauthorized with the card of a consent, which is not stored yet',
      { onDeadline: 'reauthorize', cardOnFile: { entryMode: 'consent_transaction' } },
      [`onDeadline: ${NEEDS_STORED_CARD}`],
    ],
    ['reauthorized with a stored card', { ...STORED, onDeadline: 'reauthorize', reauthorization: {} }, []],
    [
      'with a deadline too short',
      { captureDeadline: 59_999 },
      ['captureDeadline: 59999 ms is too short: at least 1 minute, or use captureMode "auto"'],
    ],
    ['with the shortest deadline', { captureDeadline: 60_000 }, []],
    ['with a warning alone', { deadlineWarning: '2 days' }, []],
    [
      'with a warning at its deadline',
      { captureDeadline: '1 hour', deadlineWarning: '60 minutes' },
      ['deadlineWarning: 3600000 ms is not shorter than the captureDeadline of 3600000 ms'],
    ],
    [
      'with a warning before it began',
      { captureDeadline: '1 hour', deadlineWarning: '2 hours' },
      ['deadlineWarning: 7200000 ms is not shorter than the captureDeadline of 3600000 ms'],
    ],
    ['with a warning in time', { captureDeadline: '1 hour', deadlineWarning: 3_599_999 }, []],
    ['without deadline and warning', {}, []],
  ])('%s', (_name, change, expected) => {
    expect(faults(authorizeInputSchema, { ...MINIMAL, ...change })).toEqual(expected);
  });

  test.each([...LATER_ENTRY_MODES])('uses a stored card by %s', (entryMode) => {
    expect(usesStoredCard({ cardOnFile: { entryMode } })).toBe(true);
  });

  test.each([undefined, { entryMode: 'consent_transaction' }, { entryMode: 'recurring_consent_transaction' }] as const)(
    'uses none by %j',
    (cardOnFile) => {
      expect(usesStoredCard({ cardOnFile })).toBe(false);
    },
  );
});

describe('the consent of a buyer to later use of the card', () => {
  test.each(['consent_transaction', 'recurring_consent_transaction'] as const)('is given by %s', (entryMode) => {
    expect(givesConsent({ cardOnFile: { entryMode } })).toBe(true);
  });

  test.each([...LATER_ENTRY_MODES])('is not given by %s, which relies on one', (entryMode) => {
    expect(givesConsent({ cardOnFile: { entryMode } })).toBe(false);
  });

  test('is not given by a payment that says nothing of a card on file', () => {
    expect(givesConsent({})).toBe(false);
    expect(givesConsent({ cardOnFile: undefined })).toBe(false);
  });
});

describe('the input that stores a card', () => {
  const least = { ...MINIMAL, customer: { customerReference: 'customer-7' } };
  const EMAIL = { customerReference: 'customer-7', email: 'ada@shop.example' };

  test.each<[string, object, string[]]>([
    ['needs no address', {}, []],
    ['may have one', { customer: EMAIL }, []],
    [
      'needs one for network tokens',
      { networkTokens: true },
      ['customer.email: is missing: network tokens need the address of the customer'],
    ],
    ['has it', { networkTokens: true, customer: EMAIL }, []],
    [
      'needs one that is one',
      { networkTokens: true, customer: { ...EMAIL, email: 'ada' } },
      ['customer.email: is not an e-mail address'],
    ],
  ])('%s', (_name, change, expected) => {
    expect(faults(storeCardInputSchema, { ...least, ...change })).toEqual(expected);
  });
});

describe('the input of a risk analysis', () => {
  const PRICED = { unitPrice: 1095 };
  const order = { lineItems: [PRICED, { name: 'Tea' }, PRICED, {}] };
  const UNPRICED = [1, 3].map(
    (index) =>
      `order.lineItems.${index}.unitPrice: is missing: a payment that is risk-analysed needs the price of every item`,
  );

  test.each<[string, Schema, object, string[]]>([
    ['of its own', analyseRiskInputSchema, { order }, UNPRICED],
    ['inside of a charge', chargeInputSchema, { order, risk: {} }, UNPRICED],
    ['inside of a hold', authorizeInputSchema, { order, risk: {} }, UNPRICED],
    ['of an order without items', analyseRiskInputSchema, { order: {} }, []],
    ['without an order', analyseRiskInputSchema, {}, []],
    ['of items that all have one', analyseRiskInputSchema, { order: { lineItems: [PRICED] } }, []],
    ['that is not asked for', chargeInputSchema, { order }, []],
  ])('needs the price of every item: %s', (_name, schema, change, expected) => {
    expect(faults(schema, { ...MINIMAL, ...change })).toEqual(expected);
  });

  test('names the provider of what is for it alone', () => {
    const faultsOf = (providerSpecificData: object): string[] =>
      faults(analyseRiskInputSchema, { ...MINIMAL, risk: { providerSpecificData } });
    expect(faultsOf({ some_risk: {} })).toEqual([]);
    expect(faultsOf({ some: {} })).toEqual([
      'risk.providerSpecificData.some: is not the identifier of a risk provider, which ends in _risk',
    ]);
    expect(faultsOf({ some_risk: { additionalDetails: { payerBirthday: '2000-01-31' } } })).toEqual([
      'risk.providerSpecificData.some_risk.additionalDetails.payerBirthday: is not a date in the form yyyy/mm/dd',
    ]);
    expect(faults(analyseRiskInputSchema, { ...MINIMAL, risk: { providerSpecificData: 7 } })).toEqual([
      'risk.providerSpecificData: Invalid input: expected record, received number',
    ]);
  });
});
