const MASK = (1n << 64n) - 1n;

/**
 * The seed that Core gives the chance of a run: SipHash 1-3 of its id, as Rust hashes a text. Flows of Holdfast throw
 * no dice; one that did would draw the same again only with this.
 *
 * @returns an unsigned number of 64 bits, in decimal digits
 */
export function seedOf(runId: string): string {
  const bytes = Buffer.concat([Buffer.from(runId), Buffer.from([0xff])]);
  const state = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n] as State;
  const whole = bytes.length - (bytes.length % 8);
  for (let at = 0; at < whole; at += 8) compress(state, bytes.readBigUInt64LE(at));
  const last = Buffer.alloc(8);
  bytes.copy(last, 0, whole);
  last[7] = bytes.length % 256;
  compress(state, last.readBigUInt64LE());
  state[2] ^= 0xffn;
  for (let round = 0; round < 3; round += 1) mix(state);
  return String(state[0] ^ state[1] ^ state[2] ^ state[3]);
}

type State = [bigint, bigint, bigint, bigint];

function compress(state: State, word: bigint): void {
  state[3] ^= word;
  mix(state);
  state[0] ^= word;
}

function mix(state: State): void {
  state[0] = (state[0] + state[1]) & MASK;
  state[1] = turned(state[1], 13n) ^ state[0];
  state[0] = turned(state[0], 32n);
  state[2] = (state[2] + state[3]) & MASK;
  state[3] = turned(state[3], 16n) ^ state[2];
  state[0] = (state[0] + state[3]) & MASK;
  state[3] = turned(state[3], 21n) ^ state[0];
  state[2] = (state[2] + state[1]) & MASK;
  state[1] = turned(state[1], 17n) ^ state[2];
  state[2] = turned(state[2], 32n);
}

function turned(word: bigint, by: bigint): bigint {
  return ((word << by) | (word >> (64n - by))) & MASK;
}
