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
import {
  deliverEvent,
  findCreator,
  findActionsBefore,
  findEarlierPayment,
  findSentBefore,
  findSiblingThatSent,
  findEarlierResult,
  findEarlierRun,
  taskWasLost,
} from './engine-calls.js';
import { countOutgoing } from './outgoing.js';
import { type ActivityDeps, beating } from './read-call.js';
import { tellingFailures } from './notifies.js';
import { createPayment, getPayment, getPaymentAndTransactions } from './payments.js';
import { TRANSACTIONS } from './transaction-table.js';
import { transactionRows } from './transactions.js';

export type { ActivityDeps, Restored, UnitTerms } from './read-call.js';

/** One row for each activity that a flow may call: an activity of the contract without a row does not compile. */
const TABLE: ActivityTable<ActivityDeps, PaymentActivities> = {
  createPayment,
  getPayment,
  getPaymentAndTransactions,
  ...transactionRows(TRANSACTIONS),

  createCustomer,
  getCustomer,
  findCustomer,
  storePaymentMethod,
  getPaymentMethod,
  listPaymentMethods,
  deletePaymentMethod,
  getToken,

  countOutgoing: beating(countOutgoing),
  tellSubscription: ({ engine }, call) => engine.tellSubscription(call),

  deliverEvent,
  findEarlierRun: beating(findEarlierRun),
  findEarlierPayment: beating(findEarlierPayment),
  findSentBefore: beating(findSentBefore),
  findSiblingThatSent: beating(findSiblingThatSent),
  findActionsBefore: beating(findActionsBefore),
  findEarlierResult: beating(findEarlierResult),
  findCreator: beating(findCreator),
  taskWasLost: beating(taskWasLost),
};

export function createActivities(deps: ActivityDeps): PaymentActivities {
  return buildActivities(deps, tellingFailures(TABLE), (argument) => checkCall(deps, argument));
}
