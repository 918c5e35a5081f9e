import type { PaymentActivities } from '../src/contract/activities.js';
import { createCharge } from './create-charge.js';
import { createPayment } from './create-payment.js';
import type { ActivityDeps } from './deps.js';
import { findEarlierRun } from './find-earlier-run.js';
import { getCharge } from './get-charge.js';
import { getPayment } from './get-payment.js';
import { listCharges } from './list-charges.js';
import { updatePayment } from './update-payment.js';

export type { ActivityDeps } from './deps.js';

/** The activities over what they need; a change of the contract breaks this at compile time. */
export function createActivities(deps: ActivityDeps): PaymentActivities {
  return {
    createPayment: (call) => createPayment(deps, call),
    getPayment: (call) => getPayment(deps, call),
    updatePayment: (call) => updatePayment(deps, call),
    createCharge: (call) => createCharge(deps, call),
    getCharge: (call) => getCharge(deps, call),
    listCharges: (call) => listCharges(deps, call),
    findEarlierRun: () => findEarlierRun(deps),
  };
}
