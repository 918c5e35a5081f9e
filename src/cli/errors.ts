/** The arguments are wrong: exit code 2. Lists every fault, one per line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** The command fails: exit code 1. The message says why and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
