// @ts-check
import { call } from './api.js';
import { byId, sayError, show } from './dom.js';

/** @typedef {import('../answers.ts').ClockView} ClockView */

const HOUR_MS = 3_600_000;

/** @param {() => void} changed */
export function startClock(changed) {
  byId('clock-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void move(changed);
  });
}

/** @param {ClockView} clock */
export function showClock({ now, aheadMs }) {
  const minute = `${now.slice(0, 16).replace('T', ' ')} UTC`;
  show(byId('clock-now'), [minute, aheadMs], () => [`It is ${minute}, ${aheadOf(aheadMs)}.`]);
}

/** @param {number} ms */
function aheadOf(ms) {
  const hours = Math.round(ms / HOUR_MS);
  if (ms === 0) return 'as everywhere';
  return hours < 48 ? `${hours} ${hours === 1 ? 'hour' : 'hours'} ahead` : `${Math.round(hours / 24)} days ahead`;
}

/** @param {() => void} changed */
async function move(changed) {
  const hours = Number(/** @type {HTMLSelectElement} */ (byId('hours')).value);
  const place = byId('clock-said');
  try {
    const clock = /** @type {ClockView} */ (await call('/api/clock', { body: { hours, understood: true } }));
    place.replaceChildren(`The sandbox’s clock is now ${aheadOf(clock.aheadMs)}.`);
    /** @type {HTMLInputElement} */ (byId('understood')).checked = false;
  } catch (error) {
    place.replaceChildren(sayError(error));
  }
  changed();
}
