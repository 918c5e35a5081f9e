import { randomBytes } from 'node:crypto';
import { createDataConverter } from '../../src/security/data-converter.js';
import { GOLDEN_ENCRYPTION_KEYS } from '../replay/golden-key.js';
import { parseKeyRing } from '../../src/security/key-ring.js';

/** A key of this run; the golden one while golden histories are recorded. */
export const TEST_ENCRYPTION_KEYS =
  process.env['HOLDFAST_RECORD'] === '1' ? GOLDEN_ENCRYPTION_KEYS : `test:${randomBytes(32).toString('base64')}`;

export function testDataConverter() {
  return createDataConverter(parseKeyRing(TEST_ENCRYPTION_KEYS), { onCardData: 'refuse' });
}
