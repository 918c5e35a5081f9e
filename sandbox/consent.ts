import { createHash, randomInt } from 'node:crypto';

/** How the first transactions say that the customer consents to the card's being stored. */
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

/** A network transaction id of 15 digits. It carries its card, so that nothing needs to be kept to recognise it. */
export function newConsentId(salt: string, fingerprint: string): string {
  const random = String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0');
  return random + checkDigits(salt, fingerprint, random);
}

/** Whether an id stands for a consent given with that card. */
export function isConsentOf(salt: string, fingerprint: string, id: string | undefined): boolean {
  const random = id?.slice(0, RANDOM_DIGITS) ?? '';
  return id === random + checkDigits(salt, fingerprint, random);
}

function checkDigits(salt: string, fingerprint: string, random: string): string {
  const hash = createHash('sha256').update(`${salt}:consent:${fingerprint}:${random}`).digest();
  return String(hash.readUInt32BE() % 10 ** 7).padStart(7, '0');
}
