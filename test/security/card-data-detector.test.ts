import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { findCardData, withoutCardData } from '../../src/security/card-data-detector.js';
import { cardNumber, writtenCardNumber } from './card-numbers.arbitrary.js';

const RUNS = { numRuns: 500 };

describe('findCardData', () => {
  test('finds every valid card number, bare or written in groups', () => {
    fc.assert(
      fc.property(writtenCardNumber, (written) => {
        expect(findCardData({ note: written })).toEqual(['$.note']);
      }),
      RUNS,
    );
  });

  test('finds a card number inside other text, and with more digits after it', () => {
    fc.assert(
      fc.property(writtenCardNumber, fc.constantFrom('card: ', 'PAN', 'ref_', '%B'), (written, before) => {
        expect(findCardData(`${before}${written} 12/27 123`)).toEqual(['$']);
      }),
      RUNS,
    );
  });

  test('finds a card number that is a number, and one that is a key', () => {
    fc.assert(
      fc.property(cardNumber, (number) => {
        // Thirteen digits from 4 on are a moment in epoch ms, unless the field says that they are a card.
        const isMoment = number.length === 13 && number.startsWith('4');
        expect(findCardData({ id: [Number(number)] })).toEqual(isMoment ? [] : ['$.id[0]']);
        expect(findCardData({ cardNumber: Number(number) })).toEqual(['$.cardNumber']);
        const paths = findCardData({ [number]: true });
        expect(paths).toHaveLength(1);
        expect(paths.join()).not.toContain(number);
      }),
      RUNS,
    );
  });

  test('leaves consent ids alone, which networks make of digits, but not a card number written as one', () => {
    fc.assert(
      fc.property(cardNumber, (number) => {
        const input = { cardOnFile: { consentTransactionId: number } };
        expect(findCardData(input)).toEqual([]);
        expect(withoutCardData(input)).toEqual(input);
        const grouped = number.replace(/\d{4}(?=\d)/g, '$& ');
        expect(findCardData({ consentTransactionId: grouped })).toEqual(['$.consentTransactionId']);
        expect(findCardData({ consentId: number })).toEqual(['$.consentId']);
      }),
      RUNS,
    );
  });

  test('never repeats the number in what it reports', () => {
    fc.assert(
      fc.property(writtenCardNumber, (written) => {
        expect(JSON.stringify(findCardData({ a: { [written]: [written] } }))).not.toContain(written);
      }),
      RUNS,
    );
  });

  test('is not tripped by UUIDs', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(findCardData({ uuid, text: `payment ${uuid}, ${uuid}` })).toEqual([]);
      }),
      { numRuns: 2000 },
    );
    // All digits, and all digits in the last two groups, where the odds would be worst.
    fc.assert(
      fc.property(fc.stringMatching(/^\d{8}-\d{4}-\d{4}-\d{4}-\d{12}$/), (uuid) => {
        expect(findCardData(`payment-${uuid}:createCharge:1`)).toEqual([]);
      }),
      { numRuns: 2000 },
    );
    for (let i = 0; i < 2000; i++) expect(findCardData(randomUUID())).toEqual([]);
  });

  test('is not tripped by hex digests, encrypted CVVs, times and amounts', () => {
    for (let i = 0; i < 2000; i++) {
      const bytes = randomBytes(48);
      expect(findCardData(createHash('sha256').update(bytes).digest('hex'))).toEqual([]);
      expect(findCardData({ encryptedCvv: bytes.toString('base64') })).toEqual([]);
    }
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2001-09-10'), max: new Date('2128-06-01'), noInvalidDate: true }),
        (date) => {
          // Until 2033 epoch times begin with 1, as no card number does. As numbers of ms they pass until 2128.
          const epoch = Math.min(date.getTime(), Date.parse('2033-05-18'));
          const times = [date.toISOString(), date.getTime(), String(epoch), `${epoch}000`, `${epoch}000000`];
          const days = `from ${date.toISOString().slice(0, 10)} to ${date.toISOString().slice(0, 10)}`;
          expect(findCardData([...times, days, date.toISOString().replace('T', ' ')])).toEqual([]);
        },
      ),
      RUNS,
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (amount) => {
        expect(findCardData({ amount, order: { lineItems: [{ unitPrice: amount }] } })).toEqual([]);
      }),
      RUNS,
    );
  });

  test.each([
    [{ cvv: '123' }, ['$.cvv']],
    [{ cvc: 1234 }, ['$.cvc']],
    [{ card: { CVV2: ' 123 ' } }, ['$.card.CVV2']],
    [{ credit_card_cvv: '0123' }, ['$.credit_card_cvv']],
    [{ 'security-code': '999' }, ['$.security-code']],
    [{ card_number: '1234 5678 9012 3456' }, ['$.card_number']],
    [{ cardNumber: '4111111111111111' }, ['$.cardNumber']],
    [{ body: '{"credit_card_cvv":"123"}' }, ['$.body']],
    [{ a: [{ cvv: ['123'] }] }, ['$.a[0].cvv[0]']],
  ])('finds %j', (value, paths) => {
    expect(findCardData(value)).toEqual(paths);
  });

  test.each([
    [{ encryptedCvv: '1234', encrypted_cvv: '123' }],
    [{ cvvResult: 'M', cvv_result_code: '123', cvv: 'present' }],
    [{ last4: '1111', cardNumber: '1111', card_number: '************1111' }],
    [{ reference: 'order-1001', amount: 4111111111111111 }],
    [{ phone: '+39 02 1234 5678', quantity: 123, code: 123 }],
    ['4111111111111112'],
    [null],
    [undefined],
  ])('leaves %j alone', (value) => {
    expect(findCardData(value)).toEqual([]);
  });

  test('ends on values that hold themselves, and refuses what is too deep to look into', () => {
    const loop: Record<string, unknown> = { cvv: '123' };
    loop['self'] = loop;
    expect(findCardData(loop)).toEqual(['$.cvv']);
    let deep: unknown = '4111111111111111';
    for (let i = 0; i < 5000; i++) deep = [deep];
    expect(findCardData(deep)).toHaveLength(1);
  });
});

describe('withoutCardData', () => {
  test('leaves nothing to find and changes nothing else', () => {
    fc.assert(
      fc.property(writtenCardNumber, fc.integer({ min: 100, max: 9999 }), fc.uuid(), (written, cvv, uuid) => {
        const clean = { uuid, amount: 1095, list: [true, null, 'text'] };
        const starred = withoutCardData({ ...clean, written: `x ${written} y`, cvv: String(cvv), [written]: 1 });
        expect(findCardData(starred)).toEqual([]);
        expect(starred).toMatchObject({ ...clean, cvv: '***' });
        expect(JSON.stringify(starred)).not.toContain(written);
      }),
      RUNS,
    );
  });
});
