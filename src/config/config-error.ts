/** Every configuration fault at once, one per line: the variable, what is wrong with it, what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Collects faults while settings are read, so that all of them can be mended at once. */
export class Faults {
  readonly #faults: string[] = [];

  add(fault: string): void {
    this.#faults.push(fault);
  }

  get any(): boolean {
    return this.#faults.length > 0;
  }

  /** @throws ConfigError if there is any */
  throwIfAny(): void {
    if (this.any) throw new ConfigError(this.#faults);
  }
}

/** A value in a message: short. Never for secrets. */
export function shown(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}...` : value);
}
