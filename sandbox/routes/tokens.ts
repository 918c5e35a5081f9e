import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { notFound } from '../api-error.js';
import { tokenView } from '../card-views.js';
import { cardFields, fingerprint, mockOutcome } from '../cards.js';
import { sealCvv, liveToken, sweepExpiredTokens } from '../tokens.js';
import { findKey, rememberKey } from '../idempotency.js';
import { cardNumberSchema, detailsSchema, expirationDate, expirationSchema } from '../payment-method.js';
import type { Token } from '../records.js';
import { keyUse, parseBody, type Answer, type Call, type Route } from '../route.js';
import { replayed } from '../replay.js';
import { perVersion } from '../versions.js';
import { addressSchema } from '../wire-fields.js';

export const tokenRoutes: readonly Route[] = [
  {
    operation: 'createToken',
    method: 'POST',
    path: '/tokens',
    credentials: 'public',
    fromBrowsers: true,
    request: (rules) => tokenSchema(rules),
    success: 201,
    handle: createToken,
  },
  {
    operation: 'getToken',
    unnamed: 501,
    method: 'GET',
    path: '/tokens/:token',
    credentials: 'private',
    success: 200,
    handle: getToken,
  },
];

const credit = z.literal('credit_card');

/** `token_type` was called `type` before 1.1.0; 1.0.0 accepts both names. */
const tokenSchema = perVersion((rules) =>
  z
    .object({
      token_type: rules.tokenAtRoot ? credit.optional() : credit,
      type: rules.tokenAtRoot ? credit.optional() : z.literal('tokenized').optional(),
      holder_name: z.string().min(1),
      card_number: cardNumberSchema,
      expiration_date: expirationSchema.optional(),
      credit_card_cvv: z
        .string()
        .regex(/^\d{3,4}$/, 'must have 3 or 4 digits')
        .optional(),
      billing_address: addressSchema(rules).optional(),
      shipping_address: addressSchema(rules).optional(),
      identity_document: z.looseObject({}).optional(),
      additional_details: detailsSchema.optional(),
    })
    .refine((body) => (body.token_type ?? body.type) !== undefined, { message: 'is needed', path: ['type'] }),
);

/** The same key with another card is another token, so the card is part of the key's scope. */
function createToken(call: Call): Answer {
  const request = parseBody(call, tokenSchema(call.rules));
  const { sandbox } = call;
  const expires = expirationDate(request.expiration_date);
  const card = fingerprint(request.card_number, sandbox.fingerprintSalt);
  const use = keyUse(call, card);
  const remembered = findKey(sandbox, use);
  if (remembered !== undefined) return replayed(call, remembered);

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
  rememberKey(
    sandbox,
    use,
    { resource: 'token', resourceId: token.token, status: 201, version: call.rules.version },
    text,
  );
  return { status: 201, text };
}

function getToken(call: Call): Answer {
  const token = liveToken(call.sandbox, call.params['token'] ?? '', call.unit.appId, call.env);
  if (token === undefined) throw notFound('Not Found, Payment method token was not found');
  return { status: 200, body: tokenView(call, token) };
}
