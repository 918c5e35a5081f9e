import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../../src/client/index.js';
import { paymentWorkflowId } from '../../../src/contract/names.js';
import type { Outcome } from '../../../src/contract/outcomes.js';
import type { ProfileUnit } from '../../stack/profile-units.js';
import type { PaymentRecord } from '../../audit/payment-record.js';
import type { DriverContext } from './driver-context.js';
import { voidInBackOffice } from './back-office.js';
import { NoAnswerInTime } from './retry-budget.js';

const AGAIN_MS = 1_000;

/** What operators, providers and the service itself do about one flow. */
export class ExternalActor {
  readonly #parts: DriverContext;
  readonly #record: PaymentRecord;
  readonly #unit: ProfileUnit;

  constructor(parts: DriverContext, record: PaymentRecord, unit: ProfileUnit) {
    this.#parts = parts;
    this.#record = record;
    this.#unit = unit;
  }

  /** Ends an open review, as an operator or as the risk provider does. */
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

  /** Ends the flow that made the payment, as an operator may who no longer trusts it. */
  async terminate(): Promise<void> {
    const handle = this.#parts.temporal.workflow.getHandle(paymentWorkflowId(this.#record.reference));
    this.#record.terminated = true;
    await this.#persist(async () => {
      const { status } = await handle.describe();
      if (status.name === 'RUNNING') await handle.terminate('the payment is handled by hand');
      return status.name !== 'RUNNING';
    });
  }

  /** Lets go of a hold in the back office of the service, as a person does for whom no flow may do it any more. */
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
      return true;
    });
  }

  /** The next reply to a call of this method and path is lost after the service has acted. */
  async loseNextReply(resource: string): Promise<void> {
    const path = `/payments/${this.#record.paymentId ?? ''}/${resource}`;
    await this.#parts.sandbox.addFault({ action: 'drop_reply', method: 'POST', path, times: 1 });
  }

  /** The service takes no such card on file from now on. */
  async refuseToStore(token: string): Promise<void> {
    const path = `/customers/*/payment-methods/${token}`;
    await this.#parts.sandbox.addFault({ action: 'status', status: 400, method: 'POST', path });
  }

  /** The bank declines the first payment for the first period of its subscription. */
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
        // What is no longer open needs no decision; what else is wrong shows in the end of the flow.
        if (error instanceof HoldfastError && error.type === 'StateConflict') return;
      }
      if (Date.now() >= this.#parts.limit()) throw new NoAnswerInTime();
      await sleep(AGAIN_MS);
    }
  }
}
