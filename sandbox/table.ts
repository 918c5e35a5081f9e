import type { RowChange } from './storage.js';

/** How a table reports a change to the store that owns it. */
export interface Journal {
  nextSeq(): number;
  changed(change: RowChange, undo: () => void): void;
}

interface Row<T> {
  seq: number;
  value: T;
}

/** One kind of record: read from memory, written through to the storage by the store's transaction. */
export class Table<T extends object> {
  private readonly rows = new Map<string, Row<T>>();
  private readonly observers: ((before: T | undefined, after: T | undefined) => void)[] = [];

  constructor(
    readonly kind: string,
    private readonly idOf: (value: T) => string,
    private readonly journal: Journal,
  ) {}

  get(id: string): T | undefined {
    return this.rows.get(id)?.value;
  }

  get size(): number {
    return this.rows.size;
  }

  /** All records in the order of creation. */
  *values(): IterableIterator<T> {
    for (const row of this.rows.values()) yield row.value;
  }

  put(value: T, cold?: string): void {
    const id = this.idOf(value);
    const before = this.rows.get(id);
    const after = { seq: before?.seq ?? this.journal.nextSeq(), value };
    const change = { seq: after.seq, kind: this.kind, value, cold };
    this.journal.changed(change, () => this.set(id, before));
    this.set(id, after);
  }

  delete(id: string): void {
    const before = this.rows.get(id);
    if (before === undefined) return;
    const change = { seq: before.seq, kind: this.kind, value: undefined, cold: undefined };
    this.journal.changed(change, () => this.set(id, before));
    this.set(id, undefined);
  }

  /** Returns the row's position in the storage, for text that is not held in memory. */
  seqOf(id: string): number | undefined {
    return this.rows.get(id)?.seq;
  }

  /** At boot: loads a row that is already in the storage. */
  load(seq: number, value: T): void {
    this.set(this.idOf(value), { seq, value });
  }

  /** Empties memory only, for a store that has emptied its storage. */
  forget(): void {
    this.rows.clear();
  }

  /** Calls the observer for each change and each undo, so that an index stays up to date. */
  observe(observer: (before: T | undefined, after: T | undefined) => void): void {
    this.observers.push(observer);
  }

  private set(id: string, row: Row<T> | undefined): void {
    const before = this.rows.get(id)?.value;
    if (row === undefined) this.rows.delete(id);
    else this.rows.set(id, row);
    for (const observer of this.observers) observer(before, row?.value);
  }
}
