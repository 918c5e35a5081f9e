// @ts-check
import { call } from './api.js';
import { followCheckout, startCheckout } from './checkout.js';
import { showClock, startClock } from './clock.js';
import { showDeliveries, startDeliveries } from './deliveries.js';
import { byId, element, sayError, show } from './dom.js';
import { showFaults, startFaults } from './faults.js';
import { openPayment, refreshPayment, startPayment } from './payment.js';
import { showPayments, startPayments } from './payments.js';

/** @typedef {import('../answers.ts').About} About */
/** @typedef {import('../answers.ts').Overview} Overview */

const EVERY_MS = 1_500;

/** Ends the present pause between two looks. */
let lookNow = () => undefined;
const changed = () => lookNow();

async function look() {
  try {
    const [overview] = await Promise.all([/** @type {Promise<Overview>} */ (call('/api/overview')), refreshPayment()]);
    const parts = /** @type {const} */ ([
      ['The payments can’t be read', overview.payments, showPayments],
      ['The webhook deliveries can’t be read', overview.deliveries, showDeliveries],
      ['The faults can’t be read', overview.faults, showFaults],
      ['The clock can’t be read', overview.clock, showClock],
    ]);
    const faults = parts.flatMap(([what, part, showPart]) => {
      if ('fault' in part) return [`${what}: ${part.fault}. What is shown may be old.`];
      /** @type {(value: unknown) => void} */ (showPart)(part.value);
      return [];
    });
    if ('value' in overview.payments) followCheckout(overview.payments.value);
    show(byId('notices'), faults, () => faults.map((fault) => element('p', { class: 'notice' }, fault)));
  } catch (error) {
    show(byId('notices'), String(error), () => [element('div', { class: 'notice' }, sayError(error))]);
  }
}

async function start() {
  const about = /** @type {About} */ (await call('/api/about'));
  /** @type {HTMLAnchorElement} */ (byId('temporal-ui')).href = about.uiUrl;
  /** @type {HTMLAnchorElement} */ (byId('ledger')).href = `${about.sandboxUrl}/sandbox/ledger`;
  const open = (/** @type {string} */ workflowId) => void openPayment(workflowId);
  startPayments(open);
  startPayment(changed);
  startDeliveries(changed);
  startFaults(about, changed);
  startClock(changed);
  startCheckout(about, open, changed);
  // A form that is sent before its script listens would load the page again.
  document.querySelector('main')?.removeAttribute('inert');
  const named = decodeURIComponent(location.hash.slice(1));
  // Other fragments are places of the page.
  if (document.getElementById(named) === null && named !== '') open(named);
  for (;;) {
    const isAsked = new Promise((resolve) => {
      lookNow = () => {
        resolve(undefined);
        return undefined;
      };
    });
    // A page that nobody sees asks for nothing.
    if (!document.hidden) await look();
    await Promise.race([isAsked, new Promise((resolve) => setTimeout(resolve, EVERY_MS))]);
  }
}

start().catch((error) => byId('notices').replaceChildren(element('div', { class: 'notice' }, sayError(error))));
