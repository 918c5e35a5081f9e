// @ts-check
import { call } from './api.js';
import { button, byId, element, sayError, showEach } from './dom.js';

/** @typedef {import('../answers.ts').FaultRow} FaultRow */

/** @type {() => void} */
let changed = () => undefined;

/**
 * @param {import('../answers.ts').About} about
 * @param {() => void} onChange
 */
export function startFaults(about, onChange) {
  changed = onChange;
  const items = about.faults.map(({ kind, text }) =>
    element(
      'li',
      {},
      button(text, () => void plant(kind, text), { class: 'wide' }),
    ),
  );
  byId('fault-kinds').replaceChildren(...items);
  byId('remove-used').addEventListener('click', () => void removeUsed());
}

/** Ids of the faults that can meet nothing any more. @type {readonly string[]} */
let used = [];

/** @param {readonly FaultRow[]} faults */
export function showFaults(faults) {
  used = faults.filter(({ isUsedUp }) => isUsedUp).map(({ id }) => id);
  byId('remove-used').hidden = used.length < 2;
  showEach(byId('planted'), faults, ({ id }) => id, itemOf, 'None: everything works.');
}

/** @param {FaultRow} fault */
function itemOf({ id, text, meets, fired }) {
  const said = `${meets}; ${fired === 0 ? 'not met yet' : `met ${fired} ${fired === 1 ? 'time' : 'times'}`}`;
  return element(
    'li',
    { class: 'split' },
    element('div', {}, text, element('div', { class: 'hint' }, said)),
    button('Remove', () => void remove(id, text), { id: `remove-${id}`, 'aria-label': `Remove: ${text}, ${meets}` }),
  );
}

/**
 * @param {string} kind
 * @param {string} text
 */
async function plant(kind, text) {
  await act(() => call('/api/faults', { body: { kind } }), `Planted: ${text}.`);
}

/**
 * @param {string} id
 * @param {string} text
 */
async function remove(id, text) {
  await act(() => call(`/api/faults/${encodeURIComponent(id)}`, { method: 'DELETE' }), `Removed: ${text}.`);
}

async function removeUsed() {
  const removals = used.map((id) => call(`/api/faults/${encodeURIComponent(id)}`, { method: 'DELETE' }));
  await act(() => Promise.all(removals), `Removed: ${removals.length} faults that were used up.`);
}

/**
 * @param {() => Promise<unknown>} work
 * @param {string} text
 */
async function act(work, text) {
  const place = byId('faults-said');
  try {
    await work();
    place.replaceChildren(text);
  } catch (error) {
    place.replaceChildren(sayError(error));
  }
  changed();
}
