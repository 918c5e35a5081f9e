/** Rows are never deleted or moved to another owner: what was said of a reference once holds for ever. */
export const CREATE_TABLE = `
  CREATE TABLE IF NOT EXISTS holdfast_references (
    environment text NOT NULL,
    workflow_id text NOT NULL,
    first_run_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    namespace text NOT NULL,
    payment_id text,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (environment, workflow_id)
  )
  -- The entry of the payment then finds room beside its row, and no index changes.
  WITH (fillfactor = 70)`;

export const CHECK = `
  SELECT
    current_setting('synchronous_commit') <> 'off' AND current_setting('fsync') = 'on' AS syncs,
    current_setting('transaction_read_only') = 'off' AS writable,
    to_regclass('holdfast_references') IS NOT NULL AS is_there,
    has_any_column_privilege(to_regclass('holdfast_references'), 'SELECT')
      AND has_any_column_privilege(to_regclass('holdfast_references'), 'INSERT')
      AND has_any_column_privilege(to_regclass('holdfast_references'), 'UPDATE') AS may_write`;

export const CLAIM = `
  INSERT INTO holdfast_references (environment, workflow_id, first_run_id, fingerprint, namespace)
  VALUES ($1, $2, $3, decode($4, 'hex'), $5)
  ON CONFLICT DO NOTHING`;

export const READ = `
  SELECT first_run_id, encode(fingerprint, 'hex') AS fingerprint, namespace, payment_id, claimed_at
  FROM holdfast_references WHERE environment = $1 AND workflow_id = $2`;

export const NOTE_PAYMENT = `
  UPDATE holdfast_references SET payment_id = $4
  WHERE environment = $1 AND workflow_id = $2 AND first_run_id = $3`;
