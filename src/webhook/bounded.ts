/**
 * Options of a cache that holds at most so many entries. With `max` it would take the memory of all of them when it is
 * made.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });

/**
 * Remembers the last entries, at least `entries` / 2 and at most `entries` of them. An entry that is set again counts as
 * new. Made for what is a hint at most: nothing is ordered by use.
 */
export class Recent<K, V> {
  #young = new Map<K, V>();
  #old: ReadonlyMap<K, V> = new Map();
  readonly #half: number;

  constructor(entries: number) {
    this.#half = Math.ceil(entries / 2);
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
