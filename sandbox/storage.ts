/** A record as the store keeps it. */
export interface StoredRow {
  /** Place in the order of creation. */
  seq: number;
  kind: string;
  value: unknown;
}

export interface RowChange {
  seq: number;
  kind: string;
  /** Undefined when the row is to go. Never changed in place once it was handed over. */
  value: object | undefined;
  /** Text that is only read by `cold`; undefined leaves what is there. */
  cold: string | undefined;
}

/** Where a sandbox keeps its state. One open sandbox owns it. */
export interface Storage {
  /** Every row, in the order of `seq`. */
  rows(): Iterable<StoredRow>;
  /** Keeps all of the changes or none. Throws when it can't. */
  write(changes: readonly RowChange[]): void;
  cold(seq: number): string | undefined;
  clear(): void;
  close(): void;
}

interface Kept {
  readonly rows: Map<number, StoredRow>;
  readonly colds: Map<number, string>;
}

/** Keeps the state in memory: gone with the process. */
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

  /** Closes this one; what it kept goes on in the one that is returned, for a sandbox that is started again. */
  handOver(): MemoryStorage {
    this.close();
    return new MemoryStorage(this.kept);
  }
}
