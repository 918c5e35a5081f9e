import { starCardData } from '../contract/card-data.js';

const MAX_TEXT = 500;
const MAX_EXCERPT = 300;

/** Creates a function that masks secrets and card data in a text of the service and shortens it for logs. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.filter((secret): secret is string => secret !== undefined && secret.length >= 3);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, '[redacted]');
    clean = starCardData(clean);
    return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}...` : clean;
  };
}

/** Secrets of a request body that an error text of the service could contain. */
export function secretsOf(request: unknown): string[] {
  if (typeof request !== 'object' || request === null) return [];
  const { paymentMethod, identityDocument } = request as Record<string, unknown>;
  return [request, paymentMethod, identityDocument].flatMap((part) => {
    if (typeof part !== 'object' || part === null) return [];
    const { cardNumber, creditCardCvv, holderName, number } = part as Record<string, unknown>;
    return [cardNumber, creditCardCvv, holderName, number].filter((value) => typeof value === 'string');
  });
}

/**
 * Describes a body without its values: names and types of JSON fields, or the masked beginning of a body that is not
 * JSON (such as an error page of a proxy).
 */
export function excerptOf(text: string): string {
  try {
    return cut(shapeOf(JSON.parse(text), 3));
  } catch {
    const start = text.trimStart();
    if (/^["[{]/.test(start)) return `${text.length} characters that begin like JSON and are none`;
    return cut(JSON.stringify(start.slice(0, 80).replace(/\d/g, '#')));
  }
}

function shapeOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${shapeOf(value[0], depth - 1)} x ${value.length}]`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  if (depth <= 0) return '{...}';
  const fields = Object.entries(value).map(([key, field]) => {
    const name = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(key) && !/\d{3}/.test(key) ? key : '?';
    return `${name}: ${shapeOf(field, depth - 1)}`;
  });
  return `{${fields.join(', ')}}`;
}

function cut(text: string): string {
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}...` : text;
}
