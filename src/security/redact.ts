import { starCardData } from '../contract/card-data.js';

export type Redactor = (text: string) => string;

/**
 * Masks card numbers and the given secrets in any text, as the last check before a log line leaves the process. The
 * allow-list in `log-fields.ts` decides which fields may be logged.
 * Secrets under 6 characters are not masked: that would also mask ordinary words.
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  // A log line is JSON, so quotes and backslashes of a secret are escaped in it.
  const needles = secrets
    .filter((secret) => secret.length >= 6)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (text) => starCardData(needles.reduce((rest, needle) => rest.replaceAll(needle, '[secret]'), text));
}
