// @ts-check

/** @typedef {import('../answers.ts').Said} Said */

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}`);
  return found;
}

/**
 * Makes an element. Attributes that are undefined are left out; `true` sets an attribute without a value.
 * @param {string} tag
 * @param {Record<string, string | true | undefined>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}

/**
 * @param {string} text
 * @param {() => void} onPress
 * @param {Record<string, string>} [attributes]
 */
export function button(text, onPress, attributes = {}) {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', onPress);
  return made;
}

/** @type {WeakMap<Element, string>} */
const shown = new WeakMap();

/**
 * Shows a value, and touches nothing while it stays the same: neither focus nor what a screen reader is reading.
 * @param {HTMLElement} place
 * @param {unknown} value
 * @param {() => (Node | string)[]} render
 */
export function show(place, value, render) {
  const text = JSON.stringify(value);
  if (shown.get(place) === text) return;
  shown.set(place, text);
  replaceIn(place, render());
}

/**
 * Shows one child for each item. A child is made anew only when its item has changed.
 * @template Item
 * @param {HTMLElement} list
 * @param {readonly Item[]} items
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => HTMLElement} render
 * @param {string} [none] shown in a list of `li` that has no items
 */
export function showEach(list, items, keyOf, render, none) {
  const before = new Map(
    [...list.children].map((child) => [child.getAttribute('data-key'), /** @type {HTMLElement} */ (child)]),
  );
  const childOf = (/** @type {string} */ key, /** @type {unknown} */ value, /** @type {() => HTMLElement} */ make) => {
    const text = JSON.stringify(value);
    const known = before.get(key);
    if (known !== undefined && shown.get(known) === text) return known;
    const made = make();
    made.setAttribute('data-key', key);
    shown.set(made, text);
    return made;
  };
  const children = items.map((item) => childOf(keyOf(item), item, () => render(item)));
  if (items.length === 0 && none !== undefined) {
    children.push(childOf('', none, () => element('li', { class: 'hint' }, none)));
  }
  const isSame = children.length === list.children.length && children.every((child, i) => child === list.children[i]);
  if (!isSame) replaceIn(list, children);
}

/**
 * Replaces what a place shows. Were the focus in what goes, it would begin at the top of the page again: it goes to the
 * element of the same id instead, or else to the heading of the section.
 * @param {HTMLElement} place
 * @param {(Node | string)[]} children
 */
export function replaceIn(place, children) {
  const before = document.activeElement;
  const hasFocus = before !== null && before !== place && place.contains(before);
  place.replaceChildren(...children);
  if (!hasFocus || place.contains(document.activeElement)) return;
  const same = before.id === '' ? null : document.getElementById(before.id);
  const heading = /** @type {HTMLElement | null | undefined} */ (
    place.closest('section')?.querySelector('h2[tabindex]')
  );
  (same ?? heading)?.focus({ preventScroll: true });
}

const SIGNS = { good: '✓', bad: '✕', waiting: '…', person: '!', neutral: '–' };

/**
 * @param {import('../answers.ts').Tone} tone
 * @param {string} text
 */
export function pill(tone, text) {
  return element(
    'span',
    { class: `pill ${tone}` },
    element('span', { 'aria-hidden': 'true' }, SIGNS[tone]),
    ` ${text}`,
  );
}

/**
 * What happened, how it is known, what it waits for, what to do.
 * @param {Said} said
 */
export function sayAll({ what, tone, known, waitsFor, toDo }) {
  const rows = [
    ['What happened', pill(tone, what)],
    ...(known === undefined ? [] : [['Known', known]]),
    ...(waitsFor === undefined ? [] : [['It waits for', waitsFor]]),
    ['What to do', toDo],
  ];
  return element(
    'dl',
    {},
    ...rows.map(([term = '', text = '']) => element('div', {}, element('dt', {}, term), element('dd', {}, text))),
  );
}

/** @param {unknown} error */
export function sayError(error) {
  const { what, faults, toDo } =
    error instanceof Refusal ? error : { what: String(error), faults: [], toDo: 'Reload the page.' };
  return element(
    'div',
    { class: 'error' },
    element('p', {}, pill('bad', what)),
    ...(faults.length === 0 ? [] : [element('ul', {}, ...faults.map((fault) => element('li', {}, fault)))]),
    element('p', {}, toDo),
  );
}

/** What a server refused, and what to do. */
export class Refusal extends Error {
  /** @param {{ what: string, faults: string[], toDo: string, movedNothing?: true }} error */
  constructor({ what, faults, toDo, movedNothing }) {
    super(what);
    this.what = what;
    this.faults = faults;
    this.toDo = toDo;
    this.movedNothing = movedNothing === true;
  }
}

const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Local time, with the day if it is not today. @param {string} iso */
export function timeOf(iso) {
  const time = new Date(iso);
  const today = time.toDateString() === new Date().toDateString();
  const text = today ? TIME.format(time) : `${DAY.format(time)} ${TIME.format(time)}`;
  return element('time', { datetime: iso, title: `${iso.slice(0, 19).replace('T', ' ')} UTC` }, text);
}
