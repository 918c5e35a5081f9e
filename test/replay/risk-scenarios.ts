import { paymentWorkflowId, riskWorkflowId } from '../../src/contract/names.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { FaultInput } from '../../sandbox/control.js';
import { CARDS } from '../support/charges.js';
import { authorizeInput } from '../support/payments.js';
import { resetTo, resetToFirstTask } from '../support/resets.js';
import type { TestStack } from '../support/stack.js';
import { until } from '../support/until.js';
import type { Scenario } from './scenarios.js';

const DECIDED = { who: 'ann', why: 'known customer' };
const REVIEWED = { email: 'manual-review-hub@email.com' };
const REJECTED = { email: 'reject-hub@email.com' };

/** Risk analyses, alone and before a charge, and credits; the same rules as for `SCENARIOS`. */
export const RISK_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'charge-risk-approved': (stack) => charged(stack, { risk: {} }),
  'charge-risk-declined': (stack) => charged(stack, { risk: {}, billingAddress: REJECTED }),
  'charge-reviewed-by-operator': (stack) =>
    charged(stack, { risk: {}, billingAddress: REVIEWED }, async ({ reference }) => {
      await stack.holdfast.decideReview(reference, { decision: 'approve', ...DECIDED });
    }),
  'charge-reviewed-by-webhook': (stack) =>
    charged(stack, { risk: {}, billingAddress: REVIEWED }, async ({ transactionId = '' }) => {
      await stack.sandbox.decideRisk(transactionId, 'approve');
    }),
  'charge-review-timed-out': (stack) =>
    charged(stack, { risk: { reviewTimeLimit: '2 seconds' }, billingAddress: REVIEWED }),
  // The run that the reset makes decides anew, and looks for an hour whether anything was charged.
  'charge-risk-declined-then-reset': async (stack) => {
    const workflowId = await charged(stack, { risk: {}, billingAddress: REJECTED });
    await stack.temporal.workflow.getHandle(workflowId).result();
    const runId = await resetToFirstTask(stack.temporal, workflowId);
    const status = async () => (await stack.holdfast.status({ workflowId })).status;
    await until(status, (one) => one === 'unknown');
    await stack.holdfast.settleManually({ workflowId }, { status: 'notExecuted', ...DECIDED });
    return { workflowId, runId };
  },
  // What the copied history has decided is not decided again: the task that is run anew has handed over what was told.
  'charge-risk-declined-then-reset-to-its-end': async (stack) => {
    const notify = { url: 'http://127.0.0.1:9/hook' };
    const workflowId = await charged(stack, { risk: {}, billingAddress: REJECTED, notify });
    const handle = stack.temporal.workflow.getHandle(workflowId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const last = events?.findLast((event) => event.workflowTaskCompletedEventAttributes);
    return { workflowId, runId: await resetTo(stack.temporal, { workflowId }, last?.eventId) };
  },
  'analyse-risk-approved': (stack) => analysed(stack, {}),
  'analyse-risk-declined': (stack) => analysed(stack, { billingAddress: REJECTED }),
  'analyse-risk-left-in-review': (stack) => analysed(stack, { billingAddress: REVIEWED }),
  'analyse-risk-waited-for': (stack) =>
    analysed(stack, { billingAddress: REVIEWED, waitForReview: true, reviewTimeLimit: '2 seconds' }),
  'credit-succeeded': (stack) => credited(stack),
  'credit-succeeded-after-a-lost-reply': (stack) => credited(stack, { action: 'drop_reply', times: 1 }),
  'credit-declined': (stack) =>
    credited(stack, { action: 'result', status: 'Failed', category: 'payment_method_declined' }),
  'credit-pending-then-webhook': (stack) => credited(stack, { action: 'result', status: 'Pending' }),
};

interface Known {
  reference: string;
  transactionId: string | undefined;
}

async function charged(
  stack: TestStack,
  overrides: Partial<ChargeInput>,
  then: (known: Known) => Promise<void> = async () => {},
): Promise<string> {
  const { reference, ...input } = await authorizeInput(stack);
  await stack.holdfast.charge({ reference, ...input, ...overrides } as ChargeInput, { waitFor: '20 seconds' });
  const { transactionId } = await stack.holdfast.status(reference);
  await then({ reference, transactionId });
  return paymentWorkflowId(reference);
}

async function analysed(stack: TestStack, overrides: object): Promise<string> {
  const { reference, amount, currency } = await authorizeInput(stack);
  await stack.holdfast.analyseRisk({ reference, amount, currency, ...overrides }, { waitFor: '20 seconds' });
  return riskWorkflowId(reference);
}

async function credited(stack: TestStack, fault?: FaultInput): Promise<string> {
  const { reference, amount, currency, paymentMethod } = await authorizeInput(stack, CARDS.succeeds);
  if (fault !== undefined) {
    await stack.sandbox.addFault({ ...fault, method: 'POST', path: '*/credits', reconciliation_id: reference });
  }
  const answer = await stack.holdfast.credit({ reference, amount, currency, paymentMethod });
  if (answer.status === 'pending') await stack.sandbox.complete(answer.transactionId ?? '', { status: 'Succeed' });
  return paymentWorkflowId(reference);
}
