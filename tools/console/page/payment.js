// @ts-check
import { call } from './api.js';
import { CommandId } from './command-id.js';
import { byId, element, pill, Refusal, sayAll, sayError, show, showEach, timeOf } from './dom.js';
import { deliveryItem } from './deliveries.js';
import { markPayment } from './payments.js';

/** @typedef {import('../answers.ts').PaymentDetails} PaymentDetails */
/** @typedef {import('../answers.ts').Offer} Offer */
/** @typedef {import('../answers.ts').Step} Step */

/** Workflow id of the payment that is shown. @type {string | undefined} */
let shown;
/** @type {() => void} */
let changed = () => undefined;

/** @param {() => void} onChange */
export function startPayment(onChange) {
  changed = onChange;
  byId('payment-close').addEventListener('click', close);
}

/** Shows a payment and moves the focus to it. @param {string} workflowId */
export async function openPayment(workflowId) {
  shown = workflowId;
  markPayment(workflowId);
  history.replaceState(null, '', `#${encodeURIComponent(workflowId)}`);
  byId('payment-command-said').replaceChildren();
  await refreshPayment();
  byId('payment').hidden = false;
  byId('payment-title').focus();
  byId('payment').scrollIntoView({ block: 'start' });
}

function close() {
  byId('payment').hidden = true;
  const opener = document.getElementById(`open-${shown}`);
  shown = undefined;
  markPayment(undefined);
  history.replaceState(null, '', ' ');
  (opener ?? byId('payments-title')).focus();
}

/** Reads the shown payment again. */
export async function refreshPayment() {
  const workflowId = shown;
  if (workflowId === undefined) return;
  try {
    const details = /** @type {PaymentDetails} */ (await call(`/api/flows/${encodeURIComponent(workflowId)}`));
    if (shown === workflowId) render(details);
  } catch (error) {
    if (shown === workflowId) show(byId('payment-said'), String(error), () => [sayError(error)]);
  }
}

/** @param {PaymentDetails} details */
function render({ row, explained, offers, deliveries }) {
  const { workflowId, reference, name, amount, said, actions, steps, money, uiUrl } = row;
  show(byId('payment-title'), reference, () => [reference]);
  const all = [said, ...(actions === undefined ? [] : [actions])];
  show(byId('payment-said'), [workflowId, all, money], () => [
    element(
      'p',
      {},
      [name, amount].filter(Boolean).join(' of '),
      money === '' ? '' : ': ',
      element('strong', {}, money),
    ),
    ...all.map(sayAll),
  ]);
  show(byId('payment-links'), uiUrl, () => [
    element('a', { href: uiUrl, target: '_blank', rel: 'noopener' }, 'Its history in Temporal UI'),
    ' ',
    element('code', {}, `npx holdfast explain ${reference}`),
  ]);
  show(byId('payment-offers'), [workflowId, offers], () => offers.map((offer) => offerForm(workflowId, offer)));
  show(byId('payment-explained'), explained, () => explained.map((text) => element('p', { class: 'quote' }, text)));
  const nothing = 'The ledger of the sandbox has nothing of it.';
  showEach(byId('payment-steps'), steps, ({ transactionId }) => transactionId, stepOf, nothing);
  const webhook = (/** @type {PaymentDetails['deliveries'][number]} */ delivery) => deliveryItem(delivery, 'payment');
  showEach(byId('payment-deliveries'), deliveries, ({ id }) => id, webhook, 'None.');
}

/** @param {Step} step */
function stepOf({ kind, amount, status, tone, at, idempotencyKey, after }) {
  return element(
    'li',
    { class: tone },
    element('div', {}, element('strong', {}, `${kind} ${amount}`), ' ', pill(tone, status), ' ', timeOf(at)),
    element('div', { class: 'hint' }, `then: ${after}`),
    ...(idempotencyKey === null
      ? []
      : [element('div', { class: 'hint' }, 'key ', element('code', {}, idempotencyKey))]),
  );
}

const TITLES = { capture: 'Capture', void: 'Void', refund: 'Refund', cancel: 'Cancel the subscription' };

/**
 * @param {string} workflowId
 * @param {Offer} offer
 */
function offerForm(workflowId, offer) {
  const { command, hint } = offer;
  const commandId = new CommandId();
  const hintId = `${command}-hint`;
  const form = element('form', { class: 'offer' });
  const amount = 'most' in offer ? amountField(command, offer.most, offer.currency) : undefined;
  const press = element('button', { type: 'submit', id: `do-${command}`, 'aria-describedby': hintId }, TITLES[command]);
  form.append(...(amount === undefined ? [] : amount.nodes), press, element('p', { class: 'hint', id: hintId }, hint));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const sum = amount === undefined ? {} : { amount: amount.field.value, currency: amount.currency };
    void sendCommand(workflowId, commandId, { command, ...sum });
  });
  return form;
}

/**
 * @param {string} command
 * @param {string} most
 * @param {string} currency
 */
function amountField(command, most, currency) {
  const id = `${command}-amount`;
  const attributes = {
    id,
    inputmode: 'decimal',
    autocomplete: 'off',
    value: most,
    required: /** @type {true} */ (true),
  };
  const field = /** @type {HTMLInputElement} */ (element('input', attributes));
  return { field, currency, nodes: [element('label', { for: id }, `${currency} to ${command}`), field] };
}

/**
 * @param {string} workflowId
 * @param {CommandId} commandId
 * @param {object} asked
 */
async function sendCommand(workflowId, commandId, asked) {
  const id = commandId.current;
  commandId.sent(id);
  const body = { ...asked, commandId: id };
  const place = byId('payment-command-said');
  place.replaceChildren(element('p', {}, 'Asking …'));
  try {
    const done = /** @type {import('../answers.ts').Done} */ (
      await call(`/api/flows/${encodeURIComponent(workflowId)}/commands`, { body })
    );
    commandId.answered(id, done.movedNothing === true);
    place.replaceChildren(element('p', {}, 'The command:'), sayAll(done.said));
  } catch (error) {
    commandId.failed(id, error instanceof Refusal && error.movedNothing);
    place.replaceChildren(sayError(error));
  }
  changed();
}
