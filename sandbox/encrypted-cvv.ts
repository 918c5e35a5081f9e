import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

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
