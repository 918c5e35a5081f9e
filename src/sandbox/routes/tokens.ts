import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { invalidRequest, notFound } from '../api-error.js';
import { cardFields, fingerprint, mockOutcome, normalizeExpirationDate } from '../cards.js';
import { sealCvv } from '../encrypted-cvv.js';
import { findKey, rememberKey, storedAnswer } from '../idempotency.js';
import type { Token } from '../records.js';
import { keyUse, parseBody, type Answer, type Call, type Route } from '../route.js';
import { liveToken, sweepExpiredTokens } from '../tokens.js';
import { tokenView } from '../views.js';

export const tokenRoutes: readonly Route[] = [
  { method: 'POST', path: '/tokens', credentials: 'public', handle: createToken },
  { method: 'GET', path: '/tokens/:token', credentials: 'private', handle: getToken },
];

const tokenSchema = z.object({
  token_type: z.literal('credit_card'),
  holder_name: z.string().min(1),
  card_number: z.string().regex(/^(\d{8}|\d{12,19})$/, 'must have 8 or 12 to 19 digits'),
  expiration_date: z.string().optional(),
  credit_card_cvv: z
    .string()
    .regex(/^\d{3,4}$/, 'must have 3 or 4 digits')
    .optional(),
  billing_address: z.looseObject({}).optional(),
  shipping_address: z.looseObject({}).optional(),
  identity_document: z.looseObject({}).optional(),
  additional_details: z.record(z.string(), z.string()).optional(),
});

/** The same key with another card is another token, so the card belongs to what the key is compared within. */
function createToken(call: Call): Answer {
  const request = parseBody(call, tokenSchema);
  const { sandbox } = call;
  const expires = request.expiration_date === undefined ? undefined : normalizeExpirationDate(request.expiration_date);
  if (request.expiration_date !== undefined && expires === undefined) {
    throw invalidRequest('expiration_date does not have a valid format');
  }
  const card = fingerprint(request.card_number, sandbox.fingerprintSalt);
  const use = keyUse(call, card);
  const remembered = findKey(sandbox, use);
  if (remembered !== undefined) return { status: remembered.status, text: storedAnswer(sandbox, remembered) };

  const now = sandbox.clock.now();
  const token: Token = {
    token: randomUUID(),
    appId: call.unit.appId,
    env: call.env,
    created: now,
    state: call.rules.newTokenState,
    fingerprint: card,
    trigger: mockOutcome(request.card_number),
    card: cardFields(request.card_number, request.holder_name, expires),
    ...(request.additional_details && { additionalDetails: request.additional_details }),
    ...(request.billing_address && { billingAddress: request.billing_address }),
  };
  const cvv = request.credit_card_cvv;
  const encryptedCvv = cvv === undefined ? undefined : sealCvv(sandbox.cvvKey, token.token, cvv, now);
  sandbox.store.tokens.put(token);
  sweepExpiredTokens(sandbox);
  const text = JSON.stringify(tokenView(call, token, encryptedCvv));
  rememberKey(sandbox, use, { resource: 'token', resourceId: token.token, status: 201 }, text);
  return { status: 201, text };
}

function getToken(call: Call): Answer {
  const token = liveToken(call.sandbox, call.params['token'] ?? '', call.unit.appId, call.env);
  if (token === undefined) throw notFound('Not Found, Payment method token was not found');
  return { status: 200, body: tokenView(call, token) };
}
