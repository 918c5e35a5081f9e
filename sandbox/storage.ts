import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';

/** A record as the store keeps it. */
interface StoredRow {
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

/** Version 2 added customers and all kinds of transactions but charges. */
const SCHEMA_VERSION = 2;

/** Stores the state in a folder: what was written survives a crash of the process. */
export class SqliteStorage implements Storage {
  private readonly lock: Database.Database;
  private readonly db: Database.Database;
  private readonly writeAll: (changes: readonly RowChange[]) => void;
  private readonly readCold: Database.Statement;

  /** Opens or creates the state under `folder`. Throws if another process has it open. */
  constructor(folder: string) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.lock = lockFolder(folder);
      this.db = openDatabase(join(folder, 'sandbox.db'));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`The sandbox can't use ${folder}: ${reason}, or choose another folder by HOLDFAST_STATE_DIR.`);
    }
    const upsert = this.db.prepare(
      'INSERT INTO records (seq, kind, json, cold) VALUES (?, ?, ?, ?) ' +
        'ON CONFLICT (seq) DO UPDATE SET json = excluded.json, cold = coalesce(excluded.cold, cold)',
    );
    const remove = this.db.prepare('DELETE FROM records WHERE seq = ?');
    this.writeAll = this.db.transaction((changes: readonly RowChange[]) => {
      for (const { seq, kind, value, cold } of changes) {
        if (value === undefined) remove.run(seq);
        else upsert.run(seq, kind, JSON.stringify(value), cold ?? null);
      }
    });
    this.readCold = this.db.prepare('SELECT cold FROM records WHERE seq = ?');
  }

  *rows(): Iterable<StoredRow> {
    const rows = this.db.prepare('SELECT seq, kind, json FROM records ORDER BY seq').iterate();
    for (const { seq, kind, json } of rows as Iterable<{ seq: number; kind: string; json: string }>) {
      yield { seq, kind, value: JSON.parse(json) as unknown };
    }
  }

  write(changes: readonly RowChange[]): void {
    this.writeAll(changes);
  }

  cold(seq: number): string | undefined {
    const row = this.readCold.get(seq) as { cold: string | null } | undefined;
    return row?.cold ?? undefined;
  }

  clear(): void {
    this.db.exec('DELETE FROM records');
  }

  close(): void {
    this.db.close();
    this.lock.exec('ROLLBACK');
    this.lock.close();
  }
}

function openDatabase(path: string): Database.Database {
  const db = new Database(path);
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.exec('CREATE TABLE IF NOT EXISTS records (seq INTEGER PRIMARY KEY, kind TEXT, json TEXT, cold TEXT)');
    const version = (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
    if (version > SCHEMA_VERSION) {
      throw new Error(`it was written by a newer sandbox (format ${version}, this one reads ${SCHEMA_VERSION})`);
    }
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Prevents a second process from opening the same state: each process reads it only once into memory, so one would
 * overwrite the other's writes. The lock is an open transaction on a separate file: it ends with the process, however
 * that ends. The state's own database would keep it after `close`, as long as its prepared statements live.
 */
function lockFolder(folder: string): Database.Database {
  const lock = new Database(join(folder, 'lock.db'));
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error;
    throw new Error('another sandbox is using it; stop that one');
  }
}
