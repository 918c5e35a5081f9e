import { createDataConverter } from '../../src/security/data-converter.js';
import { GOLDEN_ENCRYPTION_KEYS } from '../replay/golden-key.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { noteCopy } from './copies.js';

/** A key of this run, the same in all its processes; the golden one while golden histories are recorded. */
export const TEST_ENCRYPTION_KEYS =
  process.env['HOLDFAST_RECORD'] === '1' ? GOLDEN_ENCRYPTION_KEYS : `test:${keyOfRun()}`;

function keyOfRun(): string {
  const key = process.env['HOLDFAST_TEST_KEY'];
  if (!key) throw new Error('Nothing is set up for tests: start them with npm test or npm run vitest.');
  return key;
}

/** @param keys in the form of HOLDFAST_ENCRYPTION_KEYS; the first encrypts */
export function testDataConverter(keys = TEST_ENCRYPTION_KEYS, refusesClear = false) {
  return createDataConverter(parseKeyRing(keys), { refusesClear, logger: { warn: noteCopy } });
}
