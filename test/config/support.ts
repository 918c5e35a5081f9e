import { ConfigError } from '../../src/config/index.js';

export const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
export const UNITS = { default: { appId: 'app-1', privateKey: 'private-1', publicKey: 'public-1' } };

/** A complete production-like environment, with changes. */
export function env(changes: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  return {
    HOLDFAST_API_BASE_URL: 'https://api.example.com/',
    HOLDFAST_BUSINESS_UNITS: JSON.stringify(UNITS),
    HOLDFAST_ENCRYPTION_KEYS: `k1:${key(1)}`,
    HOLDFAST_STATE_DIR: '/var/lib/holdfast',
    ...changes,
  };
}
export const units = (value: unknown) => ({ HOLDFAST_BUSINESS_UNITS: JSON.stringify(value) });

export function faultsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}
