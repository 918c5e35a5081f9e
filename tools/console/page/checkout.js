// @ts-check
import { call, tokenise } from './api.js';
import { button, byId, element, replaceIn, sayAll, sayError } from './dom.js';

/** @typedef {import('../answers.ts').About} About */
/** @typedef {import('../answers.ts').Done} Done */

const HINTS = {
  charge: 'Takes the money once.',
  authorize: 'Holds the money. Capture it or void it afterwards; at its deadline it is released.',
  subscribe: 'Puts the card on file by a hold that is released at once, and bills the first month now.',
};

/** A request that was sent, with the form that it came from: sent again, it is the same payment. */
/** @typedef {{ form: string, body: object, reference: string }} Sent */

/** @type {Sent | undefined} */
let sent;

/** The latest payment, as it is shown below the form. @type {Done | undefined} */
let latest;

/**
 * Shows what has become of the latest payment since it was answered.
 * @param {readonly import('../answers.ts').PaymentRow[]} payments
 */
export function followCheckout(payments) {
  const row = payments.find(({ workflowId }) => workflowId === latest?.workflowId);
  if (latest === undefined || row === undefined || row.status === null || row.status === latest.status) return;
  const isKnown = !['started', 'pending', 'unknown'].includes(row.status);
  // The list may be older than the answer.
  if (latest.isKnown && !isKnown) return;
  if (isKnown && !latest.isKnown) renew();
  latest = { ...latest, status: row.status, said: row.said, isKnown };
  byId('checkout-said').replaceChildren(element('p', {}, `${row.reference}: ${row.money}`), sayAll(row.said));
}

/**
 * @param {About} about
 * @param {(workflowId: string) => void} open shows a payment
 * @param {() => void} changed
 */
export function startCheckout(about, open, changed) {
  const form = /** @type {HTMLFormElement} */ (byId('checkout-form'));
  fill(
    'currency',
    about.currencies.map(({ code }) => [code, code]),
  );
  fill(
    'card',
    about.cards.map(({ number, text }) => [number, text]),
  );
  fill('fault', [
    ['', 'Nothing'],
    ...about.faults.map(({ kind, text }) => /** @type {[string, string]} */ ([kind, text])),
  ]);
  const explainFault = () => {
    const kind = about.faults.find((each) => each.kind === valueOf('fault'));
    byId('fault-hint').textContent = kind?.effect ?? 'Planted for this reference alone, before the card is charged.';
  };
  const explainFlow = () => {
    const flow = /** @type {keyof typeof HINTS} */ (new FormData(form).get('flow'));
    byId('flow-hint').textContent = HINTS[flow];
  };
  byId('fault').addEventListener('change', explainFault);
  form.addEventListener('change', explainFlow);
  explainFault();
  explainFlow();
  renew();
  if (about.off !== undefined) {
    for (const field of form.elements) field.setAttribute('disabled', '');
    byId('tagline').textContent = about.off;
    return;
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void pay(about, form, open, changed);
  });
}

/**
 * @param {About} about
 * @param {HTMLFormElement} form
 * @param {(workflowId: string) => void} open
 * @param {() => void} changed
 */
async function pay(about, form, open, changed) {
  const fields = new FormData(form);
  const field = (/** @type {string} */ name) => /** @type {string} */ (fields.get(name)).trim();
  const [flow, amount, currency] = ['flow', 'amount', 'currency'].map(field);
  const [reference, fault] = [field('reference'), field('fault')];
  const text = JSON.stringify([...fields]);
  await busy(form, async () => {
    latest = undefined;
    byId('checkout-next').replaceChildren();
    // Pressed again, with nothing changed: the same request, with the same token.
    if (sent?.form !== text) {
      if (fault !== '') {
        say('Planting the fault …');
        // Also what bears a reference made of it, such as the consent of a subscription.
        await call('/api/faults', { body: { kind: fault, reference: `${reference}*` } });
      }
      say('Your browser makes the card into a token …');
      const token = await tokenise(about, field('card'));
      sent = { form: text, body: { flow, reference, amount, currency, token }, reference };
    }
    await send(sent, open, changed);
  });
}

/**
 * @param {Sent} request
 * @param {(workflowId: string) => void} open
 * @param {() => void} changed
 */
async function send(request, open, changed) {
  say(`Holdfast is asked for ${request.reference} …`);
  const done = /** @type {Done} */ (await call('/api/checkout', { body: request.body }));
  byId('checkout-said').replaceChildren(element('p', {}, request.reference), sayAll(done.said));
  replaceIn(byId('checkout-next'), [
    button('Send the same request again', () => void again(request, open, changed), { id: 'checkout-again' }),
    button('Show the payment', () => open(done.workflowId), { id: 'checkout-show' }),
  ]);
  // While the outcome is not known a new reference would be a second payment.
  if (done.isKnown) renew();
  latest = done;
  changed();
}

/**
 * @param {Sent} request
 * @param {(workflowId: string) => void} open
 * @param {() => void} changed
 */
async function again(request, open, changed) {
  await busy(/** @type {HTMLFormElement} */ (byId('checkout-form')), () => send(request, open, changed));
}

/**
 * @param {HTMLFormElement} form
 * @param {() => Promise<void>} work
 */
async function busy(form, work) {
  if (form.getAttribute('aria-busy') === 'true') return;
  form.setAttribute('aria-busy', 'true');
  try {
    await work();
  } catch (error) {
    byId('checkout-said').replaceChildren(element('p', {}, valueOf('reference')), sayError(error));
  } finally {
    form.removeAttribute('aria-busy');
  }
}

/** @param {string} text */
function say(text) {
  byId('checkout-said').replaceChildren(element('p', {}, text));
}

/** A new reference: what is paid next is a new payment. */
function renew() {
  const letters = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  const field = /** @type {HTMLInputElement} */ (byId('reference'));
  field.value = `shop-${Date.now().toString(36)}-${(letters % 36 ** 3).toString(36)}`;
}

/**
 * @param {string} id
 * @param {readonly (readonly [string, string])[]} options
 */
function fill(id, options) {
  byId(id).replaceChildren(...options.map(([value, text]) => element('option', { value }, text)));
}

/** @param {string} id */
function valueOf(id) {
  return /** @type {HTMLSelectElement | HTMLInputElement} */ (byId(id)).value;
}
