import type { LocalPostgres } from '../support/postgres.js';

/** Bytes of a table, its large values included, and of its indexes. */
export interface Relation {
  database: string;
  name: string;
  rows: number;
  indexes: number;
  /** Number of indexes. */
  count: number;
}

export interface Growth {
  /** As a vacuum leaves them, which gives the room of old versions of a row to later rows. */
  relations: Relation[];
  /** Bytes once all of that is rewritten without gaps, as by `VACUUM FULL`. */
  packed: number;
  wal: number;
}

/** Measures by how much the databases grow. */
export class Measuring {
  constructor(
    readonly postgres: LocalPostgres,
    readonly databases: readonly string[],
  ) {}

  async during(work: () => Promise<void>): Promise<Growth> {
    // The gaps that other work has left would take in some of this.
    await this.#each('VACUUM FULL');
    const before = await this.#relations();
    // After it, the first change of each page writes the whole page to the WAL: the same for every kind.
    await this.postgres.query('CHECKPOINT');
    const walBefore = await this.#wal();
    await work();
    const wal = (await this.#wal()) - walBefore;
    await this.#each('VACUUM');
    const grown = differences(before, await this.#relations());
    await this.#each('VACUUM FULL');
    const packed = differences(before, await this.#relations());
    return { relations: grown, packed: sumOf(packed, 'rows') + sumOf(packed, 'indexes'), wal };
  }

  async #each(statement: string): Promise<void> {
    for (const database of this.databases) await this.postgres.query(statement, database);
  }

  async #relations(): Promise<Relation[]> {
    const all: Relation[] = [];
    for (const database of this.databases) {
      const rows = await this.postgres.query(
        `SELECT relname AS name, pg_table_size(oid)::float8 AS rows, pg_indexes_size(oid)::float8 AS indexes,
           (SELECT count(*)::int FROM pg_index WHERE indrelid = pg_class.oid) AS count
         FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
        database,
      );
      all.push(...rows.map((row) => ({ database, ...(row as Omit<Relation, 'database'>) })));
    }
    return all;
  }

  async #wal(): Promise<number> {
    const [row] = await this.postgres.query("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes");
    return (row as { bytes: number }).bytes;
  }
}

export function sumOf(relations: readonly Relation[], part: 'rows' | 'indexes'): number {
  return relations.reduce((all, relation) => all + relation[part], 0);
}

function differences(before: readonly Relation[], after: readonly Relation[]): Relation[] {
  return after.map((relation) => {
    const earlier = before.find(({ database, name }) => database === relation.database && name === relation.name);
    const { rows = 0, indexes = 0 } = earlier ?? {};
    return { ...relation, rows: relation.rows - rows, indexes: relation.indexes - indexes };
  });
}
