import { expect } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { resetTo } from '../../support/resets.js';
import { beginActions, beginHeld } from '../../support/virtual-flows.js';
import type { SimulatedTime } from '../simulated-time.js';
import { DAY } from './context.js';

export const RELEASE = { commandId: 'released', who: 'Ada', why: 'ordered twice' };

/** Captures by `paymentActions` that pend, and what the tests of their voids do with them. */
export function lateCaptures(time: SimulatedTime) {
  /** What the provider of the default unit does with a void of what pends. */
  async function provider(pending_void: 'refused' | 'allowed' | 'too_late', list_lag_ms = 0): Promise<void> {
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { pending_void, list_lag_ms } });
  }

  /** Of a hold whose flow somebody has terminated. */
  async function lateCapture(pends: 'allowed' | 'refused' | 'too_late') {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    await time.client.workflow.getHandle(hold.workflowId).terminate();
    await provider(pends);
    return { hold, paymentId, ...(await afterHold(hold.reference, paymentId)) };
  }

  async function afterHold(paymentReference: string, paymentId: string) {
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const path = `/payments/${paymentId}/captures`;
    const reopen = () => beginActions(time, { paymentId, currency: 'USD', paymentReference });
    const actions = await reopen();
    const capture = async (more: object) => {
      const fault = await time.sandbox.addFault({ action: 'result', status: 'Pending', path });
      const { answer } = await actions.command('capture', { commandId: 'late', ...more });
      await time.passUntil((await time.now()) + 2_000);
      await time.sandbox.removeFault(fault.id);
      const { status, transactionId: captureId = '' } = await actions.status();
      expect(status).toBe('pending');
      return { answer, captureId };
    };
    /** As a business service asks, whichever run is there. */
    const voidAgain = () =>
      time.holdfast.void({ payment: paymentId, businessUnit: 'default', currency: 'USD' }, RELEASE);
    return { actions, capture, voidAgain, reopen };
  }
  /** The engine gives the void again. */
  async function resetBeforeTheVoid(workflowId: string): Promise<void> {
    const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
    const asked = events?.findIndex(
      ({ workflowExecutionUpdateAcceptedEventAttributes: update }) => update?.acceptedRequest?.input?.name === 'void',
    );
    const tasks = events?.slice(0, asked).filter((event) => event.workflowTaskCompletedEventAttributes);
    await resetTo(time.client, { workflowId }, tasks?.at(-2)?.eventId);
  }

  return { afterHold, lateCapture, provider, resetBeforeTheVoid };
}
