/** Requests in progress by idempotency key: a second one with the same key waits or is refused. */
export class InFlight {
  private readonly last = new Map<string, Promise<void>>();

  has(scope: string): boolean {
    return this.last.has(scope);
  }

  /** Waits until earlier requests are done; the caller must call the returned function when it is done. */
  async enter(scope: string): Promise<() => void> {
    const before = this.last.get(scope);
    let release = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      release = resolve;
    });
    const turn = before === undefined ? done : before.then(() => done);
    this.last.set(scope, turn);
    if (before !== undefined) await before;
    return () => {
      if (this.last.get(scope) === turn) this.last.delete(scope);
      release();
    };
  }
}
