import { readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { billableActions } from './billable-actions.js';

const FLOWS: readonly [what: string, history: string][] = [
  ['charge, started by the client', 'charge-succeeded'],
  ['charge with a stored card', 'charge-with-a-stored-card'],
  ['charge, started raw', 'charge-started-raw'],
  ['charge that tells its merchant', 'charge-told'],
  ['notifications of it, refused once', 'notifications-refused-then-taken'],
  ['charge that is pending until an event', 'charge-pending-then-webhook'],
  ['charge whose first answers are 503', 'charge-succeeded-after-503'],
  ['charge whose reply is lost', 'charge-succeeded-after-lost-reply'],
  ['charge with a risk analysis', 'charge-risk-approved'],
  ['authorizeAndCapture, captured at once', 'authorize-captured-at-once'],
  ['authorizeAndCapture, captured by command', 'authorize-captured'],
  ['authorizeAndCapture, captured at its deadline', 'authorize-captured-at-the-deadline'],
  ['authorizeAndCapture, voided by command', 'authorize-voided'],
  ['paymentActions, a refund by the client', 'payment-actions-refunded-by-client'],
  ['paymentActions, a late capture', 'payment-actions-late-capture'],
  ['paymentActions, two refunds and a refused one', 'payment-actions-refunds'],
  ['paymentActions, a refund that another person approves', 'payment-actions-refund-above-a-limit-approved'],
  ['credit', 'credit-succeeded'],
  ['analyseRisk', 'analyse-risk-approved'],
  ['storeCard', 'store-card-stored'],
  ['removeCard', 'remove-card'],
  ['listCards', 'list-cards'],
  ['resolvePending', 'resolve-pending-succeeded'],
  ['subscription, one period with a notification', 'subscription-billed-goes-on'],
  ['bulk, a pause of subscriptions', 'bulk-paused'],
  ['outgoing, what a unit with limits sends in a day', 'outgoing-counted'],
  ['brakes, one set and released', 'brakes-braked-and-released'],
];

/**
 * What one flow of each kind costs in history events, billable actions and bytes of history, as its golden history
 * shows: a table, with its head.
 */
export function flowCosts(): string[][] {
  const rows = [['one flow', 'events', 'billable actions', 'bytes']];
  for (const [what, name] of FLOWS) {
    const history = historyFromJSON(JSON.parse(readFileSync(`test/replay/histories/${name}.json`, 'utf8')));
    const bytes = proto.temporal.api.history.v1.History.encode(history).finish().length;
    const { events } = history;
    rows.push([what, String(events?.length), String(billableActions(events ?? [])), String(bytes)]);
  }
  return rows;
}
