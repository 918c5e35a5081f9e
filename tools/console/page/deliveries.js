// @ts-check
import { call } from './api.js';
import { button, byId, element, pill, sayError, showEach, timeOf } from './dom.js';

/** @typedef {import('../answers.ts').DeliveryRow} DeliveryRow */

/** @type {() => void} */
let changed = () => undefined;

/** @param {() => void} onChange */
export function startDeliveries(onChange) {
  changed = onChange;
}

/** @param {readonly DeliveryRow[]} deliveries */
export function showDeliveries(deliveries) {
  showEach(byId('delivery-rows'), deliveries, ({ id }) => id, rowOf);
  byId('deliveries-none').textContent = deliveries.length === 0 ? 'No event was sent yet.' : '';
}

/** @param {DeliveryRow} delivery */
function rowOf(delivery) {
  const { eventType, reference, at, said } = delivery;
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, shortName(eventType)),
    element('td', {}, reference ?? ''),
    element('td', {}, pill(said.tone, said.what), element('div', { class: 'hint' }, attemptsOf(delivery))),
    element('td', {}, timeOf(at)),
    element('td', {}, resendButton(delivery, 'list')),
  );
}

/**
 * An item of a list, instead of a row of a table.
 * @param {DeliveryRow} delivery
 * @param {string} where
 */
export function deliveryItem(delivery, where) {
  const { eventType, said } = delivery;
  return element(
    'li',
    { class: 'split' },
    element(
      'div',
      {},
      pill(said.tone, said.what),
      ` ${shortName(eventType)}`,
      element('div', { class: 'hint' }, attemptsOf(delivery)),
    ),
    resendButton(delivery, where),
  );
}

/** @param {DeliveryRow} delivery */
function attemptsOf({ attempts }) {
  return attempts === 0 ? 'not sent' : attempts === 1 ? 'sent once' : `sent ${attempts} times`;
}

/** @param {string} eventType */
function shortName(eventType) {
  return eventType.replace(/^payment\./, '');
}

/**
 * @param {DeliveryRow} delivery
 * @param {string} where
 */
function resendButton({ id, eventType, reference, attempts, said }, where) {
  if (attempts === 0 && said.tone === 'waiting') return '';
  const label = `Send ${shortName(eventType)} of ${reference ?? 'no reference'} again`;
  return button('Send again', () => void resend(id, label), { id: `resend-${where}-${id}`, 'aria-label': label });
}

/**
 * @param {string} id
 * @param {string} label
 */
async function resend(id, label) {
  const place = byId('deliveries-said');
  try {
    await call(`/api/deliveries/${encodeURIComponent(id)}/resend`, { body: {} });
    const sent = label.replace(/^Send (.*) again$/, '$1 is sent again.');
    place.replaceChildren(`${sent} A repeat that the handler knows changes nothing.`);
  } catch (error) {
    place.replaceChildren(sayError(error));
  }
  changed();
}
