import pg from 'pg';
import type { ClaimAnswer, ReferenceBook, ReferenceClaim } from '../contract/reference-book.js';
import { CHECK, CLAIM, CREATE_TABLE, NOTE_PAYMENT, READ } from './table.js';

export interface ReferenceBookOptions {
  /** `postgres://user:password@host/database`; a secret. */
  url: string;
  /** Test and live may share a table: each has references of its own. */
  environment: string;
  /** Namespace of Temporal. */
  namespace: string;
}

/** ms. A first try has 15 s for its claim (two queries), its call to the service (10 s) and the entry of its payment. */
const ANSWERS_WITHIN = 1_500;

/** Connections of one process. A claim takes about a millisecond. */
const CONNECTIONS = 10;

/** Of the table's creation, in PostgreSQL's advisory locks. */
const LOCK = 4_019_072_317;

/** The reference book in a table of PostgreSQL. Every entry is one statement, committed before it is answered. */
export class PostgresReferenceBook implements ReferenceBook {
  readonly namespace: string;
  readonly #environment: string;
  readonly #pool: pg.Pool;
  #isPrepared = false;
  #wasThere = false;

  constructor({ url, environment, namespace }: ReferenceBookOptions) {
    this.namespace = namespace;
    this.#environment = environment;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS,
      connectionTimeoutMillis: ANSWERS_WITHIN,
      query_timeout: ANSWERS_WITHIN,
      application_name: 'holdfast',
      allowExitOnIdle: true,
    });
    // An idle connection that breaks is replaced by the next query, whose error says what is wrong.
    this.#pool.on('error', () => undefined);
  }

  async claim(workflowId: string, claim: ReferenceClaim): Promise<ClaimAnswer> {
    const { firstRunId, fingerprint } = claim;
    await this.prepare();
    const made = await this.#ask(CLAIM, [this.#environment, workflowId, firstRunId, fingerprint, this.namespace]);
    if (made.rowCount === 1) return { owner: 'this flow' };
    // A statement of its own, since a row that another transaction has just committed is not visible to the first one.
    const owner = await this.ownerOf(workflowId, claim);
    if (owner === undefined) throw new Error('the row of the reference was deleted in this moment');
    return owner;
  }

  async ownerOf(workflowId: string, { firstRunId }: ReferenceClaim): Promise<ClaimAnswer | undefined> {
    await this.prepare();
    const { rows } = await this.#ask<Row>(READ, [this.#environment, workflowId]);
    const [row] = rows;
    if (row === undefined) return undefined;
    if (row.first_run_id === firstRunId) return { owner: 'this flow' };
    return {
      owner: 'another flow',
      firstRunId: row.first_run_id,
      fingerprint: row.fingerprint,
      namespace: row.namespace,
      claimedAt: row.claimed_at.toISOString(),
      ...(row.payment_id !== null && { paymentId: row.payment_id }),
    };
  }

  async notePayment(workflowId: string, { firstRunId }: ReferenceClaim, paymentId: string): Promise<void> {
    const { rowCount } = await this.#ask(NOTE_PAYMENT, [this.#environment, workflowId, firstRunId, paymentId]);
    if (rowCount !== 1) throw new Error('the row of the reference is gone, or belongs to another flow');
  }

  async prepare(): Promise<void> {
    if (!this.#isPrepared) await this.check();
  }

  /**
   * Asks whether it can be used, and creates the table if it was never there. Safe while others do the same.
   * @throws Error if the database does not answer, can't be written to, or forgets in a crash what it has committed
   */
  async check(): Promise<void> {
    // After a fail-over the URL may lead to another server: nothing is claimed there before it has been asked.
    this.#isPrepared = false;
    // Another check may create the table while this one is under way.
    const wasThere = this.#wasThere;
    const { rows } = await this.#ask<Checked>(CHECK, []);
    const { syncs, may_write: mayWrite, writable, is_there: isThere } = rows[0]!;
    if (!syncs)
      throw new Error('the database has fsync or synchronous_commit off, and may forget references: set both on');
    if (!writable) throw new Error('the database takes no writes (a standby, or read-only): name the one that does');
    // `CREATE TABLE IF NOT EXISTS` needs the permission to create also where the table exists.
    if (!isThere && wasThere)
      throw new Error(
        'the table holdfast_references was there and is gone: put it back; one that is made anew has forgotten every reference',
      );
    if (!isThere) await this.#create();
    else if (!mayWrite) throw new Error('its user needs SELECT, INSERT and UPDATE on the table holdfast_references');
    this.#isPrepared = true;
    this.#wasThere = true;
  }

  async #create(): Promise<void> {
    // One message is one transaction, which holds the lock.
    const create = this.#pool.query(`SELECT pg_advisory_xact_lock(${LOCK}); ${CREATE_TABLE}`);
    await this.#within(create).catch((error: unknown) => {
      throw new Error(`the table holdfast_references is missing and can't be made: ${whyOf(error)}`, { cause: error });
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #ask<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<pg.QueryResult<Row>> {
    return await this.#within(this.#pool.query<Row>(text, values));
  }

  /** The wait for a connection and the query have a limit each. A query that is given up may still take effect. */
  async #within<Answer>(answer: Promise<Answer>): Promise<Answer> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${ANSWERS_WITHIN / 1_000} s`)), ANSWERS_WITHIN);
    });
    try {
      return await Promise.race([answer, limit]);
    } catch (error) {
      throw new Error(whyOf(error), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** An error of several addresses has no text of its own. */
function whyOf(error: unknown): string {
  const { message = '', code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

interface Checked {
  syncs: boolean;
  writable: boolean;
  is_there: boolean;
  may_write: boolean | null;
}

interface Row {
  first_run_id: string;
  fingerprint: string;
  namespace: string;
  payment_id: string | null;
  claimed_at: Date;
}

/** Creates the table of the reference book if it is missing. For `holdfast setup`. */
export async function createReferenceBookTable(url: string): Promise<void> {
  const book = new PostgresReferenceBook({ url, environment: '', namespace: '' });
  try {
    await book.prepare();
  } finally {
    await book.close();
  }
}
