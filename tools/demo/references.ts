/** Suffix of each flow's reference, in the order in which the flows are shown. */
export const FLOW_NAMES = [
  'succeeds',
  'declined',
  'reply-lost',
  'part-captured',
  'race',
  'deadline',
  'refund',
  'review',
  'credit',
  'card',
  'reauthorized',
  'subscription',
  'worker-killed',
  'webhook',
  'webhook-lost',
] as const;
export type FlowName = (typeof FLOW_NAMES)[number];

/** A later operation on a payment has its flow's reference followed by a number. */
const PATTERN = new RegExp(`^demo-[0-9a-z]{8,9}-(${FLOW_NAMES.join('|')})(-\\d+)?$`);

/** Makes the references for one run of the demo. A reference can be used only once, so each run needs new ones. */
export function referencesOf(startedAt: number): (name: FlowName) => string {
  const stamp = startedAt.toString(36);
  return (name) => `demo-${stamp}-${name}`;
}

export function isDemoReference(reference: string): boolean {
  return PATTERN.test(reference);
}
