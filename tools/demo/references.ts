/** The ending of each flow's reference, in the order in which the flows are shown. */
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

/** What is done to a payment later has the reference of its flow with a number. */
const PATTERN = new RegExp(`^demo-[0-9a-z]{8,9}-(${FLOW_NAMES.join('|')})(-\\d+)?$`);

/** Makes the references of one run of the demo: a reference is used once, so each start needs new ones. */
export function referencesOf(startedAt: number): (name: FlowName) => string {
  const stamp = startedAt.toString(36);
  return (name) => `demo-${stamp}-${name}`;
}

export function isDemoReference(reference: string): boolean {
  return PATTERN.test(reference);
}
