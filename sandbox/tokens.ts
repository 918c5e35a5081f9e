import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { invalidRequest } from './api-error.js';
import type { Sandbox } from './context.js';
import type { BusinessUnit, Environment, Token } from './records.js';

/** Lifetime of a token that is not stored with a customer. */
const TOKEN_LIFE_MS = 24 * 3_600_000;

/** Returns an unexpired token of this unit and environment. An expired token counts as unknown. */
export function liveToken(sandbox: Sandbox, id: string, appId: string, env: Environment): Token | undefined {
  const token = sandbox.store.tokens.get(id);
  if (token === undefined || token.appId !== appId || token.env !== env) return undefined;
  const expired = token.state !== 'assigned' && token.created + TOKEN_LIFE_MS <= sandbox.clock.now();
  return expired ? undefined : token;
}

/** Returns the token for a new transaction. Throws the documented 400 if it is unknown, expired or already used. */
export function usableToken(sandbox: Sandbox, id: string, unit: BusinessUnit, env: Environment): Token {
  const token = knownToken(sandbox, id, unit, env);
  if (token.state === 'used' && unit.profile.second_charge === 'refused') {
    throw invalidRequest(
      'The token was already used in a successful payment. ' +
        'To use it again, the customer has to consent to its being stored.',
    );
  }
  return token;
}

/** Returns the token for an operation that uses none up. Throws the documented 400 if it is unknown or expired. */
export function knownToken(sandbox: Sandbox, id: string, unit: BusinessUnit, env: Environment): Token {
  const token = liveToken(sandbox, id, unit.appId, env);
  if (token === undefined) throw invalidRequest('Token does not exist.');
  checkConsent(token, unit);
  return token;
}

/** By the interface description, a card whose first card-on-file transaction was declined can't be stored or used. */
export function checkConsent({ consentDeclined }: Token, { profile }: BusinessUnit): void {
  if (profile.reading === 'interface' && consentDeclined === true) {
    throw invalidRequest("The token's first card-on-file transaction was declined.");
  }
}

/** Within a store transaction: deletes a few expired tokens at each new one, so that memory stays bounded. */
export function sweepExpiredTokens(sandbox: Sandbox): void {
  const expired: string[] = [];
  for (const token of sandbox.store.tokens.values()) {
    if (token.created + TOKEN_LIFE_MS > sandbox.clock.now() || expired.length >= 10) break;
    if (token.state !== 'assigned') expired.push(token.token);
  }
  for (const id of expired) sandbox.store.tokens.delete(id);
}

/** How long an `encrypted_cvv` is accepted. */
const CVV_LIFE_MS = 3 * 3_600_000;

/**
 * Encrypts a CVV for one token. Nothing is stored: the string itself carries the CVV, its token and the time, readable
 * only with the sandbox's own key.
 */
export function sealCvv(key: Buffer, token: string, cvv: string, now: number): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify({ token, cvv, now })), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Whether `text` was encrypted for that token within the last three hours. */
export function isLiveCvv(key: Buffer, token: string, text: string, now: number): boolean {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length < 28) return false;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    const opened = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
    const content = JSON.parse(opened.toString()) as { token: string; now: number };
    return content.token === token && now - content.now < CVV_LIFE_MS;
  } catch {
    return false;
  }
}
