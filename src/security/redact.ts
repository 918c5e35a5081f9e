import { starCardData } from '../contract/card-data.js';

export type Redactor = (text: string) => string;

/**
 * Stars card numbers and the given secrets in any text. The last net before a log line leaves the
 * process; what may be logged at all is decided by the allow-list in `log-fields.ts`.
 * Secrets under 6 characters are left out: starring them would eat ordinary words.
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  // A log line is JSON, where quotes and backslashes of a secret are escaped.
  const needles = secrets
    .filter((secret) => secret.length >= 6)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (text) => starCardData(needles.reduce((rest, needle) => rest.replaceAll(needle, '[secret]'), text));
}
