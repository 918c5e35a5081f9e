import type { Fault } from './fault-record.js';
import { ReferenceIndex } from './reference-index.js';
import type { BusinessUnit, Customer, Payment, RememberedKey, Token, Transaction } from './records.js';
import type { RowChange, Storage } from './storage.js';
import { Table, type Journal } from './table.js';
import type { Delivery, WebhookEndpoint } from './webhook-records.js';

/** A value of the sandbox as a whole (clock offset, settings, secrets), by name. */
export interface Setting {
  name: string;
  value: unknown;
}

/**
 * All state of the sandbox. Reads come from memory. Each transaction is written to the storage before it returns, so an
 * answered change lives as long as the storage.
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

  /** All tables, by what they have in common: they can be filled and emptied. */
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

  private readonly paymentsByReconciliation = new Map<string, Set<string>>();
  private readonly references = new ReferenceIndex();
  private lastSeq = 0;
  private open = false;
  private changes: RowChange[] = [];
  private undos: (() => void)[] = [];
  private afterCommits: (() => void)[] = [];

  /** Takes ownership of `storage` and loads its rows. */
  constructor(private readonly storage: Storage) {
    this.transactions.observe((_before, after) => this.indexTransaction(after));
    this.customers.observe((before, after) => this.references.changed(before, after));
    this.load();
  }

  /** Runs `work` and keeps all its changes or none. A throw undoes them in memory too. Calls may be nested. */
  transaction<R>(work: () => R): R {
    if (this.open) return work();
    this.open = true;
    let result: R;
    try {
      result = work();
      if (this.changes.length > 0) this.storage.write(this.changes);
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

  /** Runs `run` only after the transaction is committed (timers, deliveries). */
  afterCommit(run: () => void): void {
    if (this.open) this.afterCommits.push(run);
    else run();
  }

  /** Returns the text that is stored beside a row and not held in memory. */
  cold<T extends object>(table: Table<T>, id: string): string | undefined {
    const seq = table.seqOf(id);
    if (seq === undefined) return undefined;
    return this.storage.cold(seq);
  }

  transactionsOf(payment: Payment): Transaction[] {
    return payment.transactionIds.flatMap((id) => this.transactions.get(id) ?? []);
  }

  /** Returns the payments with at least one transaction of that reconciliation id. */
  paymentsWithReconciliationId(reconciliationId: string): Payment[] {
    const ids = this.paymentsByReconciliation.get(reconciliationId) ?? [];
    return [...ids].flatMap((id) => this.payments.get(id) ?? []);
  }

  /** Returns the customer that has a reference, or the latest deleted one that had it. */
  customerByReference(owner: Pick<Customer, 'appId' | 'env' | 'reference'>): Customer | undefined {
    return this.customers.get(this.references.idOf(owner) ?? '');
  }

  setting(name: string): unknown {
    return this.settings.get(name)?.value;
  }

  /** Deletes everything, including settings. */
  clear(): void {
    this.storage.clear();
    for (const table of this.tables) table.forget();
    this.paymentsByReconciliation.clear();
    this.references.clear();
  }

  close(): void {
    this.storage.close();
  }

  private load(): void {
    const tables = new Map(this.tables.map((table) => [table.kind, table]));
    for (const { kind, seq, value } of this.storage.rows()) {
      tables.get(kind)?.load(seq, value);
      this.lastSeq = seq;
    }
  }

  private indexTransaction(after: Transaction | undefined): void {
    if (after?.reconciliationId === undefined) return;
    const payments = this.paymentsByReconciliation.get(after.reconciliationId) ?? new Set<string>();
    payments.add(after.paymentId);
    this.paymentsByReconciliation.set(after.reconciliationId, payments);
  }
}
