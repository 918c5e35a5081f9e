import { createHash, randomInt } from 'node:crypto';

/** Card entry modes of a first transaction, with which the customer consents to storing the card. */
export const CONSENT_MODES = ['consent_transaction', 'recurring_consent_transaction'] as const;
export const LATER_MODES = [
  'cof_cardholder_initiated_transaction',
  'cof_merchant_initiated_transaction',
  'recurring_subsequent_transaction',
] as const;

const RANDOM_DIGITS = 8;

export function isConsentMode(mode: string): boolean {
  return CONSENT_MODES.some((one) => one === mode);
}

/** Creates a network transaction id of 15 digits. Its last 7 are derived from the card, so it need not be stored. */
export function newConsentId(salt: string, fingerprint: string): string {
  const random = String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0');
  return random + checkDigits(salt, fingerprint, random);
}

/** Whether the id is that of a consent given with this card. */
export function isConsentOf(salt: string, fingerprint: string, id: string | undefined): boolean {
  const random = id?.slice(0, RANDOM_DIGITS) ?? '';
  return id === random + checkDigits(salt, fingerprint, random);
}

function checkDigits(salt: string, fingerprint: string, random: string): string {
  const hash = createHash('sha256').update(`${salt}:consent:${fingerprint}:${random}`).digest();
  return String(hash.readUInt32BE() % 10 ** 7).padStart(7, '0');
}
