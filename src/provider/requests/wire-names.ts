/** Fields whose content belongs to the merchant or a provider: no key in them is renamed. */
const SENT_AS_WRITTEN: ReadonlySet<string> = new Set([
  'additionalDetails',
  'addendums',
  'cardIdentity',
  'providerSpecificData',
]);

/** Names in which the wire sets digits apart. */
const WITH_DIGITS: Readonly<Record<string, string>> = { level23: 'level_2_3', last4Digits: 'last_4_digits' };
const WITHOUT_UNDERSCORES = new Map(Object.entries(WITH_DIGITS).map(([ours, theirs]) => [theirs, ours]));

/** The names of a checked request as they stand on the wire: `lineItems` is `line_items`. */
export function toWireNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWireNames);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]): [string, unknown] => [
    snakeCase(key),
    SENT_AS_WRITTEN.has(key) ? field : toWireNames(field),
  ]);
  return Object.fromEntries(fields);
}

/** The caller's own name of a wire path: `installments.firstPaymentAmount`. */
export function toCallerPath(path: string): string {
  return path.split('.').map(camelCase).join('.');
}

function snakeCase(name: string): string {
  return WITH_DIGITS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(name: string): string {
  const ours = WITHOUT_UNDERSCORES.get(name);
  return ours ?? name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
