import type { Customer } from './records.js';

type Owner = Pick<Customer, 'appId' | 'env' | 'reference'>;

/** Customer ids by the merchant's own reference. */
export class ReferenceIndex {
  private readonly ids = new Map<string, string>();

  idOf(owner: Owner): string | undefined {
    return this.ids.get(keyOf(owner));
  }

  /** Applies a change of the table, or its undoing. */
  changed(before: Customer | undefined, after: Customer | undefined): void {
    if (after !== undefined) this.ids.set(keyOf(after), after.id);
    else if (before !== undefined && this.idOf(before) === before.id) this.ids.delete(keyOf(before));
  }

  clear(): void {
    this.ids.clear();
  }
}

function keyOf({ appId, env, reference }: Owner): string {
  return JSON.stringify([appId, env, reference]);
}
