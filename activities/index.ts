import type { PaymentActivities } from '../src/contract/activities.js';
import { type ActivityTable, buildActivities, checkCall } from './build-activities.js';
import {
  createCustomer,
  deletePaymentMethod,
  findCustomer,
  getCustomer,
  getPaymentMethod,
  getToken,
  listPaymentMethods,
  storePaymentMethod,
} from './customers.js';
import { deliverEvent } from './deliver-event.js';
import type { ActivityDeps } from './deps.js';
import {
  findCreator,
  findEarlierActions,
  findEarlierPayment,
  findEarlierResult,
  findEarlierRun,
  taskWasLost,
} from './earlier-runs.js';
import { createPayment, getPayment } from './payments.js';
import { beating } from './read-call.js';
import { TRANSACTIONS } from './transaction-table.js';
import { transactionRows } from './transactions.js';

export type { ActivityDeps, UnitTerms } from './deps.js';

/** One row for each activity that a flow may call: an activity of the contract without a row does not compile. */
const TABLE: ActivityTable<ActivityDeps, PaymentActivities> = {
  createPayment,
  getPayment,
  ...transactionRows(TRANSACTIONS),

  createCustomer,
  getCustomer,
  findCustomer,
  storePaymentMethod,
  getPaymentMethod,
  listPaymentMethods,
  deletePaymentMethod,
  getToken,

  deliverEvent,
  findEarlierRun: beating(findEarlierRun),
  findEarlierPayment: beating(findEarlierPayment),
  findEarlierActions: beating(findEarlierActions),
  findEarlierResult: beating(findEarlierResult),
  findCreator: beating(findCreator),
  taskWasLost: beating(taskWasLost),
};

export function createActivities(deps: ActivityDeps): PaymentActivities {
  return buildActivities(deps, TABLE, (argument) => checkCall(deps, argument));
}
