/** What random tests and samples of a run begin from: `HOLDFAST_SEED`. vitest.config.mjs sets one where there is none. */
export const SEED = seedOf(process.env['HOLDFAST_SEED']);

function seedOf(text: string | undefined): number {
  const seed = Number(text);
  if (text === undefined || text === '' || !Number.isInteger(seed)) throw new Error(`HOLDFAST_SEED=${text} is no seed`);
  return seed % 2 ** 31;
}

/** Numbers from 0 to below 1, the same at each run with this seed; `salt` tells callers apart (mulberry32). */
export function seededRandom(salt = 0): () => number {
  let state = (SEED + Math.imul(salt, 0x9e3779b9)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
