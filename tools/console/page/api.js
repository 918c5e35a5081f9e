// @ts-check
import { Refusal } from './dom.js';

/**
 * Calls the console's server.
 * @template Answer
 * @param {string} path
 * @param {{ method?: string, body?: object }} [request] without a body it is a GET
 * @returns {Promise<Answer>}
 * @throws {Refusal}
 */
export async function call(path, { method, body } = {}) {
  const answer = await fetch(path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Refusal({
      what: 'The console does not answer.',
      faults: [],
      toDo: 'Is npm start still running? A request that was sent may have arrived: send the same one again.',
    });
  });
  const read = await answer.json();
  if (!answer.ok) throw new Refusal(read.error);
  return read;
}

/**
 * Makes a card into a token, from this browser to the payment service: only the token reaches the shop.
 * @param {import('../answers.ts').About} about
 * @param {string} cardNumber
 * @returns {Promise<string>}
 */
export async function tokenise({ sandboxUrl, publicKey }, cardNumber) {
  const failed = (/** @type {string} */ what) =>
    new Refusal({
      what: `The card was not made into a token: ${what}`,
      faults: [],
      toDo: 'Nothing was sent to the shop. Try again.',
    });
  const answer = await fetch(`${sandboxUrl}/tokens`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'api-version': '1.3.0',
      'x-svc-env': 'test',
      'public-key': publicKey,
    },
    body: JSON.stringify({
      token_type: 'credit_card',
      holder_name: 'Ada Lovelace',
      expiration_date: '12/2030',
      card_number: cardNumber,
    }),
  }).catch(() => {
    throw failed(`the sandbox does not answer at ${sandboxUrl}.`);
  });
  const read = await answer.json().catch(() => ({}));
  if (!answer.ok || typeof read.token !== 'string') throw failed(`the sandbox answered ${answer.status}.`);
  return read.token;
}
