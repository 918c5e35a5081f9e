import { isAddressRange, SERVICE_SENDERS } from '../security/senders.js';
import { shown, type Faults } from './config-error.js';
import type { EnvironmentReader } from './environment.js';
import type { WebhookSenders } from './types.js';

const SENDERS = 'HOLDFAST_WEBHOOK_SENDERS';
const PROXIES = 'HOLDFAST_TRUSTED_PROXIES';

/** Who may send events. `service` among the senders stands for the addresses that the payment service sends from. */
export function readWebhookSenders(reader: EnvironmentReader, faults: Faults): WebhookSenders {
  const senders = listOf(reader, SENDERS)?.flatMap((entry) => (entry === 'service' ? SERVICE_SENDERS : [entry]));
  const trustedProxies = listOf(reader, PROXIES) ?? [];
  for (const [name, entries] of [
    [SENDERS, senders ?? []],
    [PROXIES, trustedProxies],
  ] as const) {
    for (const entry of entries) {
      if (isAddressRange(entry)) continue;
      faults.add(`${name}: ${shown(entry)} is neither an address nor a range, such as 203.0.113.0/24`);
    }
  }
  return { ...(senders !== undefined && { webhookSenders: senders }), trustedProxies };
}

function listOf(reader: EnvironmentReader, name: string): string[] | undefined {
  return reader
    .text(name)
    ?.split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
