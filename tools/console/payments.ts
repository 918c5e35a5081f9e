import { type FlowRow, goesOn, wasStopped } from '../../src/cli/flow-row.js';
import { FLOWS } from '../../src/contract/flows.js';
import { minorUnitsToDecimal, showMoney } from '../../src/domain/money.js';
import type { LedgerEntry } from '../audit/ledger.js';
import type { Offer, PaymentRow, Said } from './answers.js';
import { refundable, sayMoney, stepsOf } from './money.js';
import { forOperator, forWhoPaused, sayStatus, sayStopped } from './texts.js';

/** Calls about stored cards, which move no money. */
const LEFT_OUT = new Set(['listCards', 'removeCard']);

/** The link to a flow in Temporal UI. */
export type LinkTo = (workflowId: string) => string;

/**
 * One row for each flow, newest first. A flow of commands to a payment is part of that payment's row, if the flow that
 * made the payment is among them.
 */
export function paymentRows(flows: readonly FlowRow[], ledger: readonly LedgerEntry[], linkTo: LinkTo): PaymentRow[] {
  const shown = flows.filter(({ type }) => !LEFT_OUT.has(type));
  const made = new Set(shown.flatMap(({ type, paymentId }) => (type === 'paymentActions' ? [] : (paymentId ?? []))));
  return shown
    .filter(({ type, paymentId }) => type !== 'paymentActions' || !made.has(paymentId ?? ''))
    .map((flow) => paymentRow(flow, ledgerOf(flow, ledger), actionsOn(flow, shown), linkTo))
    .toSorted((one, other) => other.since.localeCompare(one.since));
}

export function paymentRow(
  flow: FlowRow,
  ledger: readonly LedgerEntry[],
  actions: FlowRow | undefined,
  linkTo: LinkTo,
): PaymentRow {
  const { workflowId, type, amount, currency, since, dueAt } = flow;
  const isEvent = type === 'parkedEvent';
  const isBusy = actions !== undefined && goesOn(actions) && actions.status !== 'idle';
  return {
    workflowId,
    // So much of an event's hash suffices for the commands.
    reference: isEvent ? flow.reference.slice(0, 12) : flow.reference,
    name: Object.values(FLOWS).find((each) => each.type === type)?.name ?? type,
    ...(amount !== undefined && currency !== undefined && { amount: showMoney(amount, currency) }),
    status: flow.status,
    said: sayFlow(flow),
    ...(isBusy && { actions: sayFlow(actions) }),
    since,
    ...(dueAt !== null && goesOn(flow) && { dueAt }),
    // The money of its payment is not the event's.
    steps: isEvent ? [] : stepsOf(ledger),
    money: isEvent ? '' : sayMoney(ledger, goesOn(flow)),
    uiUrl: linkTo(workflowId),
  };
}

function sayFlow(flow: FlowRow): Said {
  const { status, waitingFor, execution, needsOperator } = flow;
  if (wasStopped(flow) || (status === null && execution === 'failed')) return sayStopped(execution);
  const said = sayStatus(status, goesOn(flow) ? waitingFor : null);
  if (execution === 'paused') return forWhoPaused(said);
  return needsOperator ? forOperator(said) : said;
}

/**
 * The flow's part of the ledger: its payment, and what bears its reference, such as an earlier hold; of a subscription
 * the payments of its bills, whose references begin with its own.
 */
export function ledgerOf({ type, reference, paymentId }: FlowRow, ledger: readonly LedgerEntry[]): LedgerEntry[] {
  const isSubscription = type === 'subscription';
  return ledger.filter(({ payment_id: payment, reconciliation_id: id }) =>
    isSubscription ? id?.startsWith(`${reference}.`) : payment === paymentId || id === reference,
  );
}

function actionsOn({ type, paymentId }: FlowRow, flows: readonly FlowRow[]): FlowRow | undefined {
  if (type === 'paymentActions' || paymentId === undefined) return undefined;
  return flows.find((other) => other.type === 'paymentActions' && other.paymentId === paymentId);
}

/** How the mock provider ends a capture or a refund. */
function byAmount(currency: string): string {
  const [two, three, four] = [2_000, 3_000, 4_000].map((amount) => showMoney(amount, currency));
  return (
    `The mock provider decides by the amount: below ${two} it fails, from there it pends and succeeds, from ${three} ` +
    `it pends and fails, from ${four} on it succeeds at once.`
  );
}

/** The commands that make sense now. */
export function offersOf(flow: FlowRow, ledger: readonly LedgerEntry[]): Offer[] {
  const { type, status, execution, amount, currency } = flow;
  const isOpen = execution === 'running';
  if (type === 'subscription') {
    return isOpen ? [{ command: 'cancel', hint: 'Ends it now: nothing more is billed.' }] : [];
  }
  if (type === 'authorizeAndCapture' && isOpen && status === 'authorized') {
    if (amount === undefined || currency === undefined) return [];
    const most = minorUnitsToDecimal(amount, currency);
    return [
      { command: 'capture', most, currency, hint: `${byAmount(currency)} What is left of the hold lapses.` },
      { command: 'void', hint: 'Releases the hold: nothing is taken.' },
    ];
  }
  const left = refundable(ledger);
  if (left === undefined || (status !== 'succeeded' && status !== 'captured')) return [];
  return [{ command: 'refund', ...left, hint: byAmount(left.currency) }];
}
