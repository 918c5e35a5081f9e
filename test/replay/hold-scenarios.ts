import { paymentWorkflowId } from '../../src/contract/names.js';
import type { AuthorizeInput } from '../../src/contract/authorize.js';
import { DEFAULT_UNIT, type FaultInput } from '../../sandbox/control.js';
import { CARDS } from '../support/charges.js';
import { authorizeInput } from '../support/payments.js';
import { serviceOf } from '../support/service.js';
import type { TestStack } from '../support/stack.js';
import { until } from '../support/until.js';
import type { Scenario } from './scenarios.js';

const ONCE = { method: 'POST', times: 1 } as const;
const DECLINED = { action: 'result', status: 'Failed', category: 'payment_method_declined' } as const;
const PENDING = { action: 'result', status: 'Pending' } as const;

/** The endings of `authorizeAndCapture` that take seconds; the same rules as for `SCENARIOS`. */
export const HOLD_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'authorize-captured': (stack) => held(stack, async (reference) => void (await stack.holdfast.capture(reference))),
  'authorize-captured-in-part': (stack) =>
    held(stack, async (reference) => void (await stack.holdfast.capture(reference, { amount: 6_000 })), {
      amount: 20_000,
    }),
  'authorize-captured-in-part-the-rest-voided': async (stack) => {
    const { appId: app_id } = DEFAULT_UNIT;
    await stack.sandbox.putBusinessUnit({ app_id, profile: { partial_capture_void: 'allowed' } });
    const part = async (reference: string) => {
      await stack.holdfast.capture(reference, { amount: 6_000 });
      await stack.sandbox.putBusinessUnit({ app_id, profile: { partial_capture_void: 'refused' } });
    };
    return await held(stack, part, { amount: 20_000 });
  },
  'authorize-captured-at-once': (stack) => held(stack, nothing, { captureMode: 'auto' }),
  'authorize-captured-after-lost-replies': (stack) =>
    held(
      stack,
      async (reference) => {
        await stack.sandbox.addFault({
          ...ONCE,
          action: 'drop_reply',
          path: '*/captures',
          reconciliation_id: reference,
        });
        await stack.holdfast.capture(reference);
      },
      {},
      { action: 'drop_reply', path: '*/authorizations' },
    ),
  'authorize-capture-declined-then-captured': (stack) =>
    held(
      stack,
      async (reference) => {
        await stack.holdfast.capture(reference);
        await stack.holdfast.capture(reference);
      },
      {},
      { ...DECLINED, path: '*/captures' },
    ),
  'authorize-capture-refused-then-voided': (stack) =>
    held(
      stack,
      async (reference) => {
        await stack.holdfast.capture(reference).catch(() => undefined);
        await stack.holdfast.void(reference);
      },
      {},
      { action: 'status', status: 400, path: '*/captures' },
    ),
  'authorize-capture-pending-then-webhook': (stack) =>
    held(
      stack,
      async (reference) => {
        const { transactionId = '' } = await stack.holdfast.capture(reference, {}, { waitFor: '1 second' });
        await stack.sandbox.complete(transactionId, { status: 'Succeed' });
      },
      {},
      { ...PENDING, path: '*/captures' },
    ),
  'authorize-pending-then-webhook': async (stack) => {
    const input = await authorizeInput(stack, CARDS.pendsThenSucceeds, { captureMode: 'auto' });
    const { transactionId = '' } = await stack.holdfast.authorize(input);
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    return paymentWorkflowId(input.reference);
  },
  'authorize-declined': (stack) => held(stack, nothing, {}, { ...DECLINED, path: '*/authorizations' }),
  'authorize-refused-by-service': (stack) =>
    held(stack, nothing, {}, { action: 'status', status: 400, path: '*/authorizations' }),
  'authorize-voided': (stack) => held(stack, async (reference) => void (await stack.holdfast.void(reference))),
  'authorize-voided-after-a-lost-reply': (stack) =>
    held(
      stack,
      async (reference) => void (await stack.holdfast.void(reference)),
      {},
      {
        action: 'drop_reply',
        path: '*/voids',
      },
    ),
  'authorize-void-pending-then-webhook': (stack) =>
    held(
      stack,
      async (reference) => {
        const { transactionId = '' } = await stack.holdfast.void(reference, {}, { waitFor: '1 second' });
        await stack.sandbox.complete(transactionId, { status: 'Succeed' });
      },
      {},
      { ...PENDING, path: '*/voids' },
    ),
  'authorize-voided-on-cancel': (stack) =>
    held(stack, async (reference) => {
      await stack.temporal.workflow.getHandle(paymentWorkflowId(reference)).cancel();
    }),
  'authorize-voided-elsewhere': (stack) =>
    held(stack, async (reference, paymentId) => {
      await serviceOf(stack).post(`/payments/${paymentId}/voids`);
      await stack.holdfast.retryNow(reference);
    }),
  'authorize-captured-elsewhere': (stack) =>
    held(stack, async (reference, paymentId) => {
      await serviceOf(stack).post(`/payments/${paymentId}/captures`, { amount: 6_000 });
      await stack.holdfast.retryNow(reference);
    }),
  'authorize-risk-declined-before': (stack) =>
    held(stack, nothing, { risk: {}, billingAddress: { email: 'reject-hub@email.com' } }),
  'authorize-risk-declined-after': (stack) =>
    held(stack, nothing, { risk: { when: 'after' }, billingAddress: { email: 'reject-hub@email.com' } }),
  'authorize-risk-approved-after': (stack) => held(stack, nothing, { risk: { when: 'after' }, captureMode: 'auto' }),
  'authorize-reviewed-after-by-operator': (stack) =>
    held(
      stack,
      async (reference) => {
        await until(
          () => stack.holdfast.status(reference),
          ({ status }) => status === 'underReview',
        );
        await stack.holdfast.decideReview(reference, { decision: 'approve', who: 'ann', why: 'known customer' });
      },
      {
        risk: { when: 'after' },
        captureMode: 'auto',
        billingAddress: { email: 'manual-review-hub@email.com' },
      },
    ),
};

async function nothing(): Promise<void> {}

/** Authorizes, with a fault for it if given, and then does the rest. */
async function held(
  stack: TestStack,
  then: (reference: string, paymentId: string) => Promise<void>,
  overrides: Partial<AuthorizeInput> = {},
  fault?: FaultInput,
): Promise<string> {
  const input = await authorizeInput(stack, CARDS.succeeds, overrides);
  if (fault !== undefined) await stack.sandbox.addFault({ ...ONCE, ...fault, reconciliation_id: input.reference });
  const answer = await stack.holdfast.authorize(input, { waitFor: '20 seconds' }).catch(() => undefined);
  await then(input.reference, answer?.paymentId ?? '');
  return paymentWorkflowId(input.reference);
}
