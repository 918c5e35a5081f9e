/** Encrypts the golden histories. Published with them, so it protects nothing. */
export const GOLDEN_ENCRYPTION_KEYS = `golden:${Buffer.alloc(32, 'holdfast').toString('base64')}`;
