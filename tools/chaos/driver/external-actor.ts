import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../../src/client/index.js';
import { paymentWorkflowId } from '../../../src/contract/names.js';
import type { Outcome } from '../../../src/contract/messages.js';
import type { ProfileUnit } from '../../stack/profile-units.js';
import type { PaymentRecord } from '../../audit/payment-record.js';
import { type DriverContext, NoAnswerInTime } from './driver-context.js';
import { voidInBackOffice } from './operator.js';

const AGAIN_MS = 1_000;

/** Actions of operators, providers and the service itself on one flow. */
export class ExternalActor {
  readonly #parts: DriverContext;
  readonly #record: PaymentRecord;
  readonly #unit: ProfileUnit;

  constructor(parts: DriverContext, record: PaymentRecord, unit: ProfileUnit) {
    this.#parts = parts;
    this.#record = record;
    this.#unit = unit;
  }

  /** Decides an open review, as an operator or the risk provider does. */
  async decide(by: 'operator' | 'provider', decision: 'approve' | 'decline'): Promise<void> {
    const { holdfast, sandbox } = this.#parts;
    const { reference } = this.#record;
    await this.#persist(async () => {
      if (by === 'operator') {
        const command = { who: 'ann@risk', why: 'known buyer', commandId: 'decide', decision } as const;
        await holdfast.decideReview(reference, command);
        return true;
      }
      const { transactionId } = await holdfast.status(reference);
      if (transactionId === undefined) return false;
      await sandbox.decideRisk(transactionId, decision);
      return true;
    });
  }

  /** Terminates the flow that made the payment, as an operator may do. */
  async terminate(): Promise<void> {
    const handle = this.#parts.temporal.workflow.getHandle(paymentWorkflowId(this.#record.reference));
    this.#record.terminated = true;
    await this.#persist(async () => {
      const { status } = await handle.describe();
      if (status.name === 'RUNNING') await handle.terminate('the payment is handled by hand');
      return status.name !== 'RUNNING';
    });
  }

  /** Releases a hold in the service's back office, as an operator does when no flow may do it any more. */
  async releaseHold(): Promise<void> {
    const { reference, amount, currency, paymentId = '' } = this.#record;
    const known = { reference, amount, currency, paymentId };
    const at = { sandboxUrl: this.#parts.sandboxUrl, unit: this.#unit };
    await this.#persist(async () => {
      const answer = await voidInBackOffice(at, paymentId, `back-office-${reference}`);
      if (!answer.ok) return false;
      const { id } = (await answer.json()) as { id: string };
      const made = { ...known, status: 'succeeded', transactionId: id } as Outcome;
      this.#record.operations.push({ what: 'void', expected: 'succeeded', answer: made });
      this.#record.releasedByHand = true;
      return true;
    });
  }

  /** Drops the next reply to a POST on this resource of the payment, after the service has executed the request. */
  async loseNextReply(resource: string): Promise<void> {
    const path = `/payments/${this.#record.paymentId ?? ''}/${resource}`;
    await this.#parts.sandbox.addFault({ action: 'drop_reply', method: 'POST', path, times: 1 });
  }

  /** Makes the service refuse to store this card from now on. */
  async refuseToStore(token: string): Promise<void> {
    const path = `/customers/*/payment-methods/${token}`;
    await this.#parts.sandbox.addFault({ action: 'status', status: 400, method: 'POST', path });
  }

  /** Makes the bank decline the first payment of the subscription's first period. */
  async declineFirstBill(subCategory: 'insufficient_funds' | 'lost_stolen_card'): Promise<void> {
    await this.#parts.sandbox.addFault({
      action: 'result',
      status: 'Failed',
      category: 'payment_method_declined',
      sub_category: subCategory,
      method: 'POST',
      path: '/payments/*/charges',
      reconciliation_id: `${this.#record.reference}-s.1.1`,
    });
  }

  async #persist(attempt: () => Promise<boolean>): Promise<void> {
    for (;;) {
      try {
        if (await attempt()) return;
      } catch (error) {
        // The review is no longer open. If something else is wrong, the flow's outcome shows it.
        if (error instanceof HoldfastError && error.type === 'StateConflict') return;
      }
      if (Date.now() >= this.#parts.limit()) throw new NoAnswerInTime();
      await sleep(AGAIN_MS);
    }
  }
}
