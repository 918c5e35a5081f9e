import { offersNoReads, type ProfileUnit } from '../profile-units.js';
import { voidByHand } from './card-file.js';
import type { DeskParts } from './desk.js';
import { Operator } from './operator.js';

/**
 * A person at the console of the service, beside real processes.
 * @param units all that flows are sent to
 */
export function realOperator(
  { holdfast, temporal, sandbox, sandboxUrl }: Pick<DeskParts, 'holdfast' | 'temporal' | 'sandbox' | 'sandboxUrl'>,
  units: readonly ProfileUnit[],
): Operator {
  const known = new Map(units.map((unit) => [unit.name, unit]));
  return new Operator({
    holdfast,
    sandbox,
    isWithoutReads(businessUnit) {
      const unit = known.get(businessUnit);
      return unit !== undefined && offersNoReads(unit);
    },
    async isPaying(reference) {
      const query = `WorkflowId STARTS_WITH "payment-${reference}." AND ExecutionStatus = "Running"`;
      for await (const _open of temporal.workflow.list({ query })) return true;
      return false;
    },
    async letGo(paymentId, businessUnit) {
      const unit = known.get(businessUnit);
      if (unit === undefined) return;
      // The next look tells what has become of it.
      await voidByHand({ sandboxUrl, unit }, paymentId, `back-office-${paymentId}`).catch(() => undefined);
    },
    note: () => undefined,
  });
}
