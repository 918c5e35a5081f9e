import type { Transaction } from '../src/provider/index.js';

/**
 * The id by which later transactions name the consent. Its field can differ by provider: a unit says which, by the
 * provider's name or by `*` for any other; `additional_information.<name>` is one inside of that object.
 */
export function consentIdOf(data: Transaction, fields: Readonly<Record<string, string>> = {}): string | undefined {
  const field = fields[data.providerName ?? ''] ?? fields['*'];
  if (field === undefined || field === 'network_transaction_id') return data.networkTransactionId;
  const [name = '', inner] = field.split('.');
  const value = inner === undefined ? data.providerFields?.[name] : data.additionalInformation?.[inner];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
