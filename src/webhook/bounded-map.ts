/**
 * The entries used last: at most `capacity` of them, and never fewer than the last half of that. Memory stays flat
 * whatever is sent. In two generations, since finding the oldest entry of one map takes the longer the more were
 * deleted before it.
 */
export class BoundedMap<Key, Value> {
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  constructor(readonly capacity: number) {}

  get(key: Key): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size * 2 < this.capacity) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
