// @ts-check
import { button, byId, element, pill, showEach, timeOf } from './dom.js';

/** @typedef {import('../answers.ts').PaymentRow} PaymentRow */

/** @type {readonly PaymentRow[]} */
let rows = [];
/** @type {(workflowId: string) => void} */
let open = () => undefined;
/** Workflow id of the payment that is shown as a whole. @type {string | undefined} */
let current;

/** @param {string | undefined} workflowId */
export function markPayment(workflowId) {
  current = workflowId;
  render();
}

/** @param {(workflowId: string) => void} onOpen */
export function startPayments(onOpen) {
  open = onOpen;
  for (const id of ['filter', 'search']) byId(id).addEventListener('input', render);
}

/** @param {readonly PaymentRow[]} payments */
export function showPayments(payments) {
  rows = payments;
  render();
}

function render() {
  const wanted = /** @type {HTMLSelectElement} */ (byId('filter')).value;
  const search = /** @type {HTMLInputElement} */ (byId('search')).value.trim().toLowerCase();
  const fitting = rows.filter(({ said, actions, reference }) => {
    if (!reference.toLowerCase().includes(search)) return false;
    const all = [said, ...(actions === undefined ? [] : [actions])];
    if (wanted === 'open') return all.some(({ waitsFor }) => waitsFor !== undefined);
    return wanted === 'all' || all.some(({ tone }) => tone === 'person');
  });
  showEach(byId('payment-rows'), fitting, ({ workflowId }) => workflowId, rowOf);
  for (const row of byId('payment-rows').children) {
    row.classList.toggle('current', row.getAttribute('data-key') === current);
  }
  byId('payments-none').textContent =
    fitting.length > 0 ? '' : rows.length === 0 ? 'No payment yet: make one in the checkout.' : 'None fits the filter.';
}

/** @param {PaymentRow} row */
function rowOf({ workflowId, reference, name, amount, said, actions, dueAt, steps, money, since }) {
  const opener = button(reference, () => open(workflowId), { id: `open-${workflowId}`, class: 'link' });
  const waits = [said, ...(actions === undefined ? [] : [actions])].map(({ tone, what, waitsFor }) =>
    element(
      'div',
      {},
      pill(tone, what),
      ...(waitsFor === undefined ? [] : [element('div', { class: 'hint' }, `waits for ${waitsFor}`)]),
    ),
  );
  const until = dueAt === undefined ? [] : [element('div', { class: 'hint' }, 'until ', timeOf(dueAt))];
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row' },
      opener,
      element('div', { class: 'hint' }, [name, amount].filter(Boolean).join(', ')),
    ),
    element('td', {}, ...waits, ...until),
    element('td', {}, track(steps), element('div', { class: 'hint' }, money)),
    element('td', {}, timeOf(since)),
  );
}

/** @param {PaymentRow['steps']} steps */
function track(steps) {
  if (steps.length === 0) return '';
  const items = steps.map(({ kind, amount, status, tone }) =>
    element('li', { class: `step ${tone}` }, `${kind} ${amount}`, element('span', { class: 'hidden' }, ` ${status}`)),
  );
  return element('ol', { class: 'track' }, ...items);
}
