import { ActivityFailure, patched } from '@temporalio/workflow';
import { FAILURE_TYPES, PATCHES } from '../../src/contract/names.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { isMadeByReset } from '../kit/start-guard.js';
import { read } from '../policies.js';
import { refusedAs } from '../steps/failures.js';
import { isStarted } from './is-started.js';
import { actOnDispute, isKnownDispute } from './payment-disputed.js';
import type { Billing } from './state.js';

/** Of the bills that were paid last: a chargeback comes within months. */
const LOOKED_AT = 12;

/**
 * After a reset: one that leaves signals out forgets what disputes have done. Before a payment leaves that no run before the
 * reset has started, the service is asked about the bills that were paid last. True if it was asked: what that shows goes first.
 */
export async function looksForDisputes(flow: Billing): Promise<boolean> {
  // What the run before this reset has read may be older than what the reset has left out.
  const isDone = flow.looked === true || (flow.disputesRead === true && !isMadeByReset());
  const acts = flow.input.onDispute !== 'continue';
  if (isDone || !acts || flow.billed.length === 0) return false;
  if (!patched(PATCHES.looksForDisputes) || (await isStarted(flow))) return false;
  const bills = flow.billed.slice(-LOOKED_AT);
  const seen = await Promise.all(bills.map(({ paymentId }) => isDisputed(flow, paymentId)));
  bills.forEach(({ paymentId = '', paymentReference }, at) => {
    // It may have been told of it by now.
    if (seen[at] === true && !isKnownDispute(flow, paymentId)) actOnDispute(flow, { paymentId, paymentReference });
  });
  flow.looked = true;
  // What could not be read is read before the next payment that another run makes.
  if (!seen.includes(undefined)) flow.disputesRead = true;
  return true;
}

/** undefined: that could not be read. */
async function isDisputed(flow: Billing, paymentId: string | undefined): Promise<boolean | undefined> {
  if (paymentId === undefined || isKnownDispute(flow, paymentId)) return false;
  const { businessUnit } = flow;
  try {
    return decodedOrRetry(await read.getPayment({ businessUnit, paymentId })).disputed === true;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // It will not be shown later either. Written in clear it may be anybody's word.
    return refusedAs(error, FAILURE_TYPES.notFound) === undefined ? undefined : false;
  }
}
