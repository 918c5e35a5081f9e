import { holdsCardData, namesCardData } from '../src/contract/card-data.js';
import type { TransactionCard, TransactionDetails, TransactionDocument } from '../src/contract/records.js';
import type { PaymentMethod, Transaction } from '../src/provider/index.js';

/** Most characters of one text and of all texts: a history must not hold unlimited provider text. */
const LONGEST_TEXT = 1_024;
const ALL_TEXTS = 16_384;
const LONGEST_LINK = 2_048;
const MOST_DOCUMENTS = 10;
const MOST_FIELDS = 50;
/** Most characters of a provider's field name, and of a name in `omitted`. */
const LONGEST_NAME = 100;
const LONGEST_OMITTED = 60;

/**
 * Returns what a provider says beyond the fields that flows decide by. Free text with card data or beyond the limits is
 * left out and named in `omitted`; ids always pass.
 */
export function transactionDetails(data: Transaction): TransactionDetails | undefined {
  const omitted: string[] = [];
  let room = ALL_TEXTS;
  const keep = (name: string, value: string | undefined, longest: number, cuts: boolean): string | undefined => {
    if (value === undefined) return undefined;
    const kept = cuts ? cut(value, longest) : value;
    const isCard = namesCardData(name.split('.').at(-1) ?? '') !== undefined || holdsCardData(value);
    const taken = kept.length + Math.min(name.length, LONGEST_NAME);
    if (isCard || kept.length > longest || taken > room) {
      omitted.push(cut(name, LONGEST_OMITTED));
      return undefined;
    }
    room -= taken;
    return kept;
  };
  const text = (name: string, value: string | undefined) => keep(name, value, LONGEST_TEXT, true);
  /** Keeps all or nothing: a truncated link or document is useless. */
  const whole = (name: string, value: string | undefined, longest: number) => keep(name, value, longest, false);

  const description = text('description', data.providerDescription);
  const documents = (data.documents ?? []).slice(0, MOST_DOCUMENTS).map((document, index): TransactionDocument => {
    const at = `documents.${index}`;
    return present({
      href: whole(`${at}.href`, document.href, LONGEST_LINK),
      descriptor: text(`${at}.descriptor`, document.descriptor),
      contentType: text(`${at}.contentType`, document.contentType),
      content: whole(`${at}.content`, document.content, LONGEST_TEXT),
    });
  });
  const information = Object.entries(data.additionalInformation ?? {})
    .slice(0, MOST_FIELDS)
    .flatMap(([name, value], index) => {
      const shownName = cut(name, LONGEST_NAME);
      if ([name, shownName].some(holdsCardData)) {
        // Reported by its index: the name itself may hold card data.
        omitted.push(`additionalInformation.${index}`);
        return [];
      }
      const said = typeof value === 'string' ? value : JSON.stringify(value);
      const kept = text(`additionalInformation.${name}`, said);
      return kept === undefined ? [] : [[shownName, kept] as const];
    });
  const details = present<TransactionDetails>({
    createdAt: isoOf(data.created),
    description,
    authorizationCode: data.authorizationCode?.slice(0, LONGEST_TEXT),
    providerTransactionId: data.providerTransactionId?.slice(0, LONGEST_TEXT),
    externalId: data.externalId?.slice(0, LONGEST_TEXT),
    documents: documents.length === 0 ? undefined : documents,
    card: cardOf(data.paymentMethod),
    additionalInformation: information.length === 0 ? undefined : Object.fromEntries(information),
    omitted: omitted.length === 0 ? undefined : omitted.slice(0, MOST_FIELDS),
  });
  return Object.keys(details).length === 0 ? undefined : details;
}

/** Cuts a text, but never in the middle of a character. */
function cut(text: string, longest: number): string {
  return text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '');
}

/** Keeps values of the exact form only, so that no longer part of a card number enters a history. */
export function cardDates({ last4Digits, expirationDate }: PaymentMethod): Omit<TransactionCard, 'vendor'> {
  return {
    ...(last4Digits !== undefined && /^\d{4}$/.test(last4Digits) && { last4Digits }),
    ...(expirationDate !== undefined && /^(?:0[1-9]|1[0-2])\/\d{4}$/.test(expirationDate) && { expirationDate }),
  };
}

const LONGEST_BRAND = 50;

function cardOf(method: PaymentMethod | undefined): TransactionCard | undefined {
  const vendor = method?.vendor;
  const isBrand = vendor !== undefined && vendor.length <= LONGEST_BRAND && !holdsCardData(vendor);
  const card: TransactionCard = { ...(isBrand && { vendor }), ...cardDates(method ?? {}) };
  return Object.keys(card).length === 0 ? undefined : card;
}

/** The service writes epoch milliseconds as text. */
export function isoOf(created: string | undefined): string | undefined {
  const moment = new Date(Number(created ?? Number.NaN));
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

type Maybe<T> = { [K in keyof T]: T[K] | undefined };

function present<T extends object>(fields: Maybe<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
