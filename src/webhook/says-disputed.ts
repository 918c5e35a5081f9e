/** Fields of a payment that say so; which of them a service has depends on its version. */
const FLAGS = ['is_chargedback', 'is_disputed'];

/** Whether the unsigned part of an event says that its payment is charged back. */
export function saysDisputed(eventType: string, { data }: Readonly<Record<string, unknown>>): boolean {
  if (eventType.startsWith('payment.dispute.')) return true;
  if (typeof data !== 'object' || data === null) return false;
  return FLAGS.some((flag) => (data as Readonly<Record<string, unknown>>)[flag] === true);
}
