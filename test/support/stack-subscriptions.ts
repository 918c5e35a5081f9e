import { subscriptionWorkflowId } from '../../src/contract/names.js';
import type { FlowStatus } from '../../src/contract/messages.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-commands.js';
import { dispatcherTo } from './dispatcher-to.js';
import { ProviderClient } from '../../src/provider/index.js';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { newReference } from './charges.js';
import type { TestStack } from './stack.js';
import { customerWithCard, later, localDay } from './subscriptions.js';
import { until } from './until.js';

/** A daily one of 60.00 EUR from `firstDay` days from now on; every period since then is billed, in a run of its own. */
export async function dailyInput(
  { sandbox, sandboxUrl }: TestStack,
  firstDay: number,
  overrides: Partial<SubscriptionInput> = {},
): Promise<SubscriptionInput> {
  const { appId, privateKey } = DEFAULT_UNIT;
  const unit = { appId, privateKey, apiVersion: '1.3.0' as const };
  const dispatcher = dispatcherTo(sandboxUrl);
  const provider = new ProviderClient({ baseUrl: sandboxUrl, environment: 'test', unit, dispatcher });
  const card = await customerWithCard({ sandbox, provider });
  const timeZone = zoneAtNoon();
  return {
    reference: newReference('club'),
    ...card,
    amount: 6_000,
    currency: 'EUR',
    interval: { every: 1, unit: 'day' },
    anchor: later(localDay(Date.now(), timeZone), firstDay),
    timeZone,
    billAt: '00:00',
    jitter: 0,
    missedPeriods: 'billAll',
    ...overrides,
  };
}

/** A zone where it is about noon: the next day begins, and its bill falls due, in eleven hours at the earliest. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  // These names count westwards.
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

/** A subscription on a real server, whoever has started it. */
export function subscriptionOn(stack: TestStack, { reference }: SubscriptionInput) {
  const workflowId = subscriptionWorkflowId(reference);
  const handle = stack.temporal.workflow.getHandle(workflowId);
  const reaches = (wanted: (status: FlowStatus) => boolean) =>
    until(() => stack.holdfast.status({ workflowId }), wanted);
  return {
    workflowId,
    handle,
    reaches,
    billed: (count: number) => reaches(({ subscription }) => subscription?.billedPeriods === count),
    ended: async () => (await handle.result()) as SubscriptionEnded,
    /** What was tried, as `2.1 Succeed`: period, attempt and status. */
    charges: async (): Promise<string[]> => {
      const ledger = await stack.sandbox.ledger();
      return ledger
        .filter(({ reconciliation_id, kind }) => kind === 'charge' && reconciliation_id?.startsWith(`${reference}.`))
        .map(({ reconciliation_id, status }) => `${reconciliation_id?.slice(reference.length + 1)} ${status}`);
    },
  };
}
