import { setTimeout as sleep } from 'node:timers/promises';
import { storedCard } from '../../../tools/chaos/scenarios/card-scenarios.js';
import { CARDS } from '../../../tools/chaos/scenarios/scenario.js';
import { HoldfastError } from '../../../src/client/index.js';
import { paymentActionsWorkflowId } from '../../../src/contract/names.js';
import { persist } from './calls.js';
import type { CampaignScenario } from './scenario.js';
import { LIMITED_CURRENCY } from './units.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Money that another person has to approve, or that a card holder has had taken back. */
export const GUARDED_SCENARIOS: readonly CampaignScenario[] = [
  {
    name: 'refund above a limit of a disputed payment',
    run: async (driver, pick, context) => {
      const { record } = driver;
      Object.assign(record, { currency: LIMITED_CURRENCY });
      const { status, transactionId = '' } = await driver.charge(CARDS.succeeds);
      if (status !== 'succeeded') return;
      const { holdfast, sandbox } = context.parts;
      if (pick([true, true, false])) await persist(context, () => sandbox.dispute(transactionId));
      for (const [commandId, name] of [
        ['no', 'reject'],
        ['back', 'approve'],
      ] as const) {
        const request = { commandId, who: 'Ada', why: 'agreed with the bank', confirmDisputed: true } as const;
        let isOver = false;
        const ended = driver.command('refund', request, { expected: 'any' }).finally(() => (isOver = true));
        const flow = { workflowId: paymentActionsWorkflowId(record.paymentId ?? '') };
        while (!isOver) {
          // Nothing waits yet, or it is decided, or nobody answers: the refund ends at the latest when its time is up.
          await holdfast[name](flow, { commandId, who: 'Grace', why: 'case 17' }).catch((error: unknown) => {
            if (!(error instanceof HoldfastError)) throw error;
          });
          await Promise.race([ended, sleep(HOUR_MS)]);
        }
        await ended;
      }
    },
  },
  {
    name: 'subscription one of whose payments is disputed',
    run: async (driver, _pick, context) => {
      const { sandbox } = context.parts;
      const subscription = await driver.subscribe(await storedCard(driver, _pick), {
        interval: 'week',
        periods: 2,
        sinceDays: 0,
        more: { onDispute: 'continue' },
      });
      await sleep(2 * DAY_MS);
      const bills = (await persist(context, () => sandbox.ledger(`${driver.record.reference}-s.1.1`))) ?? [];
      for (const { status, transaction_id: id } of bills)
        if (status === 'Succeed') await persist(context, () => sandbox.dispute(id));
      await subscription.ended();
    },
  },
];
