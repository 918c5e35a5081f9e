/** A record as the store keeps it. */
export interface StoredRow {
  /** Position in the order of creation. */
  seq: number;
  kind: string;
  value: unknown;
}

export interface RowChange {
  seq: number;
  kind: string;
  /** undefined deletes the row. A value is never changed in place after it was passed here. */
  value: object | undefined;
  /** Text that only `cold` reads; undefined keeps the stored text. */
  cold: string | undefined;
}

/** Storage of a sandbox's state. Only one open sandbox may use it. */
export interface Storage {
  /** Every row, in the order of `seq`. */
  rows(): Iterable<StoredRow>;
  /** Writes all changes or none. Throws on failure. */
  write(changes: readonly RowChange[]): void;
  cold(seq: number): string | undefined;
  clear(): void;
  close(): void;
}

interface Kept {
  readonly rows: Map<number, StoredRow>;
  readonly colds: Map<number, string>;
}

/** Keeps the state in memory, until the process ends. */
export class MemoryStorage implements Storage {
  private open = true;

  constructor(private readonly kept: Kept = { rows: new Map(), colds: new Map() }) {}

  *rows(): Iterable<StoredRow> {
    for (const row of [...this.kept.rows.values()].sort((a, b) => a.seq - b.seq)) yield row;
  }

  write(changes: readonly RowChange[]): void {
    if (!this.open) throw new Error('the storage is closed');
    const { rows, colds } = this.kept;
    for (const { seq, kind, value, cold } of changes) {
      if (value === undefined) {
        rows.delete(seq);
        colds.delete(seq);
      } else {
        rows.set(seq, { seq, kind, value });
        if (cold !== undefined) colds.set(seq, cold);
      }
    }
  }

  cold(seq: number): string | undefined {
    return this.kept.colds.get(seq);
  }

  clear(): void {
    this.kept.rows.clear();
    this.kept.colds.clear();
  }

  close(): void {
    this.open = false;
  }

  /** Closes this storage and returns a new one with its state, for a restarted sandbox. */
  handOver(): MemoryStorage {
    this.close();
    return new MemoryStorage(this.kept);
  }
}
