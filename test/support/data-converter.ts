import { randomBytes } from 'node:crypto';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';

export const TEST_ENCRYPTION_KEYS = `test:${randomBytes(32).toString('base64')}`;

export function testDataConverter() {
  return createDataConverter(parseKeyRing(TEST_ENCRYPTION_KEYS), { onCardData: 'refuse' });
}
