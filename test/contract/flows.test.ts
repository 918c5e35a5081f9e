import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLOWS } from '../../src/contract/flows.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { INPUTS } from './flow-inputs.arbitrary.js';

type Type = keyof typeof INPUTS;
type Input = Readonly<Record<string, unknown>>;

/** A row as it is for an input of any flow. */
interface AnyRow {
  idPrefix: string;
  workflowId: (input: Input) => string;
  fingerprint: (input: Input) => string;
}

const TYPES = Object.keys(INPUTS) as Type[];
const rowOf = (type: Type) => FLOWS[type] as unknown as AnyRow;
const inputsOf = (type: Type) => INPUTS[type] as fc.Arbitrary<Input>;

/** Fields by which two inputs are two requests; the others are how the request is carried out. */
const PAID = ['reference', 'amount', 'currency', 'businessUnit', 'paymentMethod', 'customerId'];
const TELLING: Readonly<Record<Type, readonly string[]>> = {
  charge: PAID,
  authorizeAndCapture: PAID,
  credit: PAID,
  storeCard: ['reference', 'amount', 'currency', 'businessUnit', 'paymentMethod', 'customer'],
  analyseRisk: PAID,
  paymentActions: ['paymentId', 'currency', 'businessUnit'],
  resolvePending: ['transactionId', 'amount', 'currency', 'businessUnit'],
  subscription: [
    ...['reference', 'amount', 'currency', 'businessUnit', 'token', 'customerId', 'interval', 'anchor', 'timeZone'],
    ...['billAt', 'trialDays', 'billedThrough', 'periods', 'missedPeriods', 'dunning', 'jitter', 'amounts'],
  ],
  listCards: ['customerId', 'commandId', 'businessUnit'],
  removeCard: ['customerId', 'commandId', 'businessUnit', 'token'],
};
/** Fields that name the workflow id. */
const NAMING: Readonly<Record<string, readonly string[]>> = {
  paymentActions: ['paymentId'],
  resolvePending: ['transactionId'],
  listCards: ['customerId', 'commandId'],
  removeCard: ['customerId', 'commandId'],
};

/** UUIDs in lower case, wherever they stand. */
function lowerCaseIds(value: unknown): unknown {
  const lower = (text: string) => (/^[0-9a-f-]{36}$/i.test(text) ? text.toLowerCase() : text);
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) => (typeof each === 'string' ? lower(each) : each));
}

function same(a: Input, b: Input, fields: readonly string[]): boolean {
  return fields.every((field) => JSON.stringify(a[field] ?? {}) === JSON.stringify(b[field] ?? {}));
}

describe('the table of flows', () => {
  test('has a row for every workflow type, under its own name', () => {
    expect(Object.keys(FLOWS).toSorted()).toEqual(Object.values(WORKFLOW_TYPES).toSorted());
    for (const [name, { type }] of Object.entries(FLOWS)) expect(type).toBe(name);
    expect([...TYPES, 'parkedEvent'].toSorted()).toEqual(Object.keys(FLOWS).toSorted());
  });

  test.each(TYPES)('gives each request to %s one workflow id, whatever else its input says', (type) => {
    const { idPrefix, workflowId } = rowOf(type);
    fc.assert(
      fc.property(inputsOf(type), inputsOf(type), (a, b) => {
        const naming = NAMING[type] ?? ['reference'];
        expect(workflowId(a).startsWith(idPrefix)).toBe(true);
        expect(workflowId(a) === workflowId(b)).toBe(same(a, b, naming));
        const named = Object.fromEntries(naming.map((field) => [field, a[field]]));
        expect(workflowId({ ...b, ...named })).toBe(workflowId(a));
      }),
    );
  });

  test.each(TYPES)('tells two inputs of %s apart by what they ask for, and by nothing else', (type) => {
    const { fingerprint } = rowOf(type);
    fc.assert(
      fc.property(inputsOf(type), inputsOf(type), fc.nat(), (a, b, pick) => {
        const telling = TELLING[type];
        const asked = (input: Input) => Object.fromEntries(telling.map((field) => [field, input[field]]));
        expect(fingerprint({ ...b, ...asked(a) })).toBe(fingerprint(a));
        const field = telling[pick % telling.length] ?? '';
        const changed = { ...a, [field]: b[field] };
        const isSame = same(lowerCaseIds(a) as Input, lowerCaseIds(changed) as Input, [field]);
        expect(fingerprint(changed) === fingerprint(a)).toBe(isSame);
      }),
    );
  });

  test('does not count the case of the ids of cards and customers', () => {
    for (const type of ['charge', 'storeCard', 'subscription', 'removeCard'] as const) {
      const { fingerprint } = rowOf(type);
      fc.assert(
        fc.property(inputsOf(type), (input) => {
          expect(fingerprint(lowerCaseIds(input) as Input)).toBe(fingerprint(input));
        }),
      );
    }
  });

  test('never takes an input of one flow for one of another', () => {
    fc.assert(
      fc.property(INPUTS.charge, (input) => {
        const types = ['charge', 'authorizeAndCapture', 'credit', 'analyseRisk'] as const;
        const prints = types.map((type) => rowOf(type).fingerprint(input as unknown as Input));
        expect(new Set(prints).size).toBe(types.length);
      }),
    );
  });
});

describe('a payment', () => {
  const MONEY = { reference: 'order-1001', amount: 1095, currency: 'USD' };
  const ID = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
  const CARD = { ...MONEY, paymentMethod: { type: 'tokenized' as const, token: ID } };
  const STORED = { ...CARD, customer: { customerReference: 'customer-7' } };
  const PENDING = { paymentId: ID, transactionId: ID, amount: 1095, currency: 'USD' };
  const { charge, authorizeAndCapture, credit, storeCard, paymentActions, analyseRisk, resolvePending } = FLOWS;

  test.each<[string, () => string, string]>([
    ['of a charge', () => charge.kind(charge.schema.parse(CARD)), 'charge'],
    ['of a hold', () => authorizeAndCapture.kind(authorizeAndCapture.schema.parse(CARD)), 'authorization'],
    ['of a credit', () => credit.kind(credit.schema.parse(CARD)), 'credit'],
    [
      'of a card stored by a charge',
      () => storeCard.kind(storeCard.schema.parse({ ...STORED, consent: { by: 'charge' } })),
      'charge',
    ],
    [
      'of a card stored by an authorization',
      () => storeCard.kind(storeCard.schema.parse({ ...STORED, consent: { by: 'authorization' } })),
      'authorization',
    ],
    [
      'of commands',
      () => paymentActions.kind(paymentActions.schema.parse({ paymentId: ID, currency: 'USD' })),
      'refund',
    ],
    ['of a risk analysis', () => analyseRisk.kind(analyseRisk.schema.parse(MONEY)), 'risk-analysis'],
    ['of a void', () => resolvePending.kind(resolvePending.schema.parse({ ...PENDING, kind: 'void' })), 'void'],
  ])('%s takes only events and reads of its own kind (%#)', (_name, kindOf, expected) => {
    expect(kindOf()).toBe(expected);
  });
});
