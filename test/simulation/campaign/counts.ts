/** How often what has happened, by kind and name. */
export class Counts {
  readonly #of = new Map<string, Map<string, number>>();

  add(kind: string, name: string, times = 1): void {
    const names = this.#of.get(kind) ?? new Map<string, number>();
    this.#of.set(kind, names);
    names.set(name, (names.get(name) ?? 0) + times);
  }

  of(kind: string, name: string): number {
    return this.#of.get(kind)?.get(name) ?? 0;
  }

  addAll(other: Plain): void {
    for (const [kind, names] of Object.entries(other))
      for (const [name, times] of Object.entries(names)) this.add(kind, name, times);
  }

  /** For another process. */
  plain(): Plain {
    return Object.fromEntries([...this.#of].map(([kind, names]) => [kind, Object.fromEntries(names)]));
  }
}

export type Plain = Record<string, Record<string, number>>;
