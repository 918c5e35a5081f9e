import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { Fault } from './fault-record.js';
import { ReferenceIndex } from './reference-index.js';
import type { BusinessUnit, Customer, Payment, RememberedKey, Token, Transaction } from './records.js';
import { Table, type Journal, type RowChange } from './table.js';
import type { Delivery, WebhookEndpoint } from './webhook-records.js';

/** A value of the sandbox as a whole (clock offset, settings, secrets), by name. */
export interface Setting {
  name: string;
  value: unknown;
}

/** 2 has customers and the kinds of transactions beside charges. */
const SCHEMA_VERSION = 2;

/**
 * All state. Reads come from memory; each transaction is written to SQLite before it returns, so whatever was
 * answered survives the death of the process. One process owns a state folder: a second one is refused.
 */
export class Store {
  private readonly journal: Journal = {
    nextSeq: () => ++this.lastSeq,
    changed: (change, undo) => {
      if (!this.open) throw new Error(`sandbox bug: ${change.kind} changed outside a transaction`);
      this.changes.push(change);
      this.undos.push(undo);
    },
  };

  readonly settings = new Table<Setting>('setting', (row) => row.name, this.journal);
  readonly units = new Table<BusinessUnit>('unit', (row) => row.appId, this.journal);
  readonly payments = new Table<Payment>('payment', (row) => row.id, this.journal);
  readonly transactions = new Table<Transaction>('transaction', (row) => row.id, this.journal);
  readonly tokens = new Table<Token>('token', (row) => row.token, this.journal);
  readonly customers = new Table<Customer>('customer', (row) => row.id, this.journal);
  readonly keys = new Table<RememberedKey>('key', (row) => row.scope, this.journal);
  readonly endpoints = new Table<WebhookEndpoint>('endpoint', (row) => row.id, this.journal);
  readonly deliveries = new Table<Delivery>('delivery', (row) => row.id, this.journal);
  readonly faults = new Table<Fault>('fault', (row) => row.id, this.journal);

  /** The tables as what is common to all: they can be filled and emptied. */
  private readonly tables: readonly { kind: string; load(seq: number, value: unknown): void; forget(): void }[] = [
    this.settings,
    this.units,
    this.payments,
    this.transactions,
    this.tokens,
    this.customers,
    this.keys,
    this.endpoints,
    this.deliveries,
    this.faults,
  ] as { kind: string; load(seq: number, value: unknown): void; forget(): void }[];

  private readonly lock: Database.Database;
  private readonly db: Database.Database;
  private readonly write: (changes: readonly RowChange[]) => void;
  private readonly readCold: Database.Statement;
  private readonly paymentsByReconciliation = new Map<string, Set<string>>();
  private readonly references = new ReferenceIndex();
  private lastSeq = 0;
  private open = false;
  private changes: RowChange[] = [];
  private undos: (() => void)[] = [];
  private afterCommits: (() => void)[] = [];

  /** Opens (or makes) the state under `folder`. Throws when another process has it open. */
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
    this.write = this.db.transaction((changes: readonly RowChange[]) => {
      for (const { seq, kind, json, cold } of changes) {
        if (json === undefined) remove.run(seq);
        else upsert.run(seq, kind, json, cold ?? null);
      }
    });
    this.readCold = this.db.prepare('SELECT cold FROM records WHERE seq = ?');
    this.transactions.observe((_before, after) => this.indexTransaction(after));
    this.customers.observe((before, after) => this.references.changed(before, after));
    this.load();
  }

  /** Runs `work` with all its changes kept or none. A throw undoes them in memory too. May be nested. */
  transaction<R>(work: () => R): R {
    if (this.open) return work();
    this.open = true;
    let result: R;
    try {
      result = work();
      if (this.changes.length > 0) this.write(this.changes);
    } catch (error) {
      for (const undo of this.undos.reverse()) undo();
      this.afterCommits = [];
      throw error;
    } finally {
      this.open = false;
      this.changes = [];
      this.undos = [];
    }
    const afterCommits = this.afterCommits;
    this.afterCommits = [];
    for (const run of afterCommits) run();
    return result;
  }

  /** For what must not happen unless the transaction is on disk (timers, deliveries). */
  afterCommit(run: () => void): void {
    if (this.open) this.afterCommits.push(run);
    else run();
  }

  /** Text that was put beside a row and is not held in memory. */
  cold<T>(table: Table<T>, id: string): string | undefined {
    const seq = table.seqOf(id);
    if (seq === undefined) return undefined;
    const row = this.readCold.get(seq) as { cold: string | null } | undefined;
    return row?.cold ?? undefined;
  }

  transactionsOf(payment: Payment): Transaction[] {
    return payment.transactionIds.flatMap((id) => this.transactions.get(id) ?? []);
  }

  /** Payments with at least one transaction of that reconciliation id. */
  paymentsWithReconciliationId(reconciliationId: string): Payment[] {
    const ids = this.paymentsByReconciliation.get(reconciliationId) ?? [];
    return [...ids].flatMap((id) => this.payments.get(id) ?? []);
  }

  /** The customer that has a reference, or the latest deleted one that had it. */
  customerByReference(owner: Pick<Customer, 'appId' | 'env' | 'reference'>): Customer | undefined {
    return this.customers.get(this.references.idOf(owner) ?? '');
  }

  setting(name: string): unknown {
    return this.settings.get(name)?.value;
  }

  /** Forgets everything, settings included. */
  clear(): void {
    this.db.exec('DELETE FROM records');
    for (const table of this.tables) table.forget();
    this.paymentsByReconciliation.clear();
    this.references.clear();
  }

  close(): void {
    this.db.close();
    this.lock.exec('ROLLBACK');
    this.lock.close();
  }

  private load(): void {
    const tables = new Map(this.tables.map((table) => [table.kind, table]));
    const rows = this.db.prepare('SELECT seq, kind, json FROM records ORDER BY seq').iterate();
    for (const row of rows as Iterable<{ seq: number; kind: string; json: string }>) {
      tables.get(row.kind)?.load(row.seq, JSON.parse(row.json) as unknown);
      this.lastSeq = row.seq;
    }
  }

  private indexTransaction(after: Transaction | undefined): void {
    if (after?.reconciliationId === undefined) return;
    const payments = this.paymentsByReconciliation.get(after.reconciliationId) ?? new Set<string>();
    payments.add(after.paymentId);
    this.paymentsByReconciliation.set(after.reconciliationId, payments);
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
 * Memory is the only reader, so a second process on the same state would overwrite what this one wrote. The lock is
 * an open transaction on a file of its own: it goes with the process, however that ends, and a closed database
 * would keep it for as long as its prepared statements live.
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
