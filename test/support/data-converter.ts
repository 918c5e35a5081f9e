import { randomBytes } from 'node:crypto';
import { createDataConverter } from '../../src/security/data-converter.js';
import { GOLDEN_ENCRYPTION_KEYS } from '../replay/golden-key.js';
import { parseKeyRing } from '../../src/security/key-ring.js';

/** A key of this run; the golden one while golden histories are recorded. */
export const TEST_ENCRYPTION_KEYS =
  process.env['HOLDFAST_RECORD'] === '1' ? GOLDEN_ENCRYPTION_KEYS : `test:${randomBytes(32).toString('base64')}`;

/** @param keys in the form of HOLDFAST_ENCRYPTION_KEYS; the first encrypts */
export function testDataConverter(keys = TEST_ENCRYPTION_KEYS) {
  return createDataConverter(parseKeyRing(keys), { onCardData: 'refuse' });
}
