import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createReferenceBookTable, PostgresReferenceBook } from '../../src/reference-book/postgres.js';
import { LocalPostgres, PASSWORD, whyNoPostgres } from '../../tools/bench/support/postgres.js';

const why = whyNoPostgres();
if (why !== undefined) console.warn(`skipped: the reference book on PostgreSQL: ${why}`);

const FINGERPRINT = 'ab'.repeat(32);
const claim = () => ({ firstRunId: randomUUID(), fingerprint: FINGERPRINT });
let server: LocalPostgres;
const open: PostgresReferenceBook[] = [];

function book({ url = server.url(), environment = 'test' } = {}): PostgresReferenceBook {
  const opened = new PostgresReferenceBook({ url, environment, namespace: 'shop' });
  open.push(opened);
  return opened;
}

describe.skipIf(why !== undefined)('the reference book on PostgreSQL', () => {
  beforeAll(async () => {
    server = await LocalPostgres.start();
  }, 60_000);
  afterAll(async () => {
    await Promise.all(open.map((each) => each.close()));
    await server?.close();
  });
  beforeEach(async () => {
    await server.query('DROP TABLE IF EXISTS holdfast_references');
  });

  test('makes its table once, however many do it at the same moment', async () => {
    await Promise.all(Array.from({ length: 8 }, () => createReferenceBookTable(server.url())));
    await createReferenceBookTable(server.url());
    expect(await server.query('SELECT count(*)::int AS rows FROM holdfast_references')).toEqual([{ rows: 0 }]);
  });

  test('does not take a table for gone that was made while it asked', async () => {
    for (let times = 0; times < 20; times += 1) {
      await server.query('DROP TABLE IF EXISTS holdfast_references');
      const one = new PostgresReferenceBook({ url: server.url(), environment: 'test', namespace: 'shop' });
      const claims = Array.from({ length: 20 }, async (_, at) => await one.claim(`payment-order-${at}`, claim()));
      for (const answer of await Promise.all(claims)) expect(answer).toEqual({ owner: 'this flow' });
      await one.close();
    }
  });

  test('gives a reference to one of fifty that claim it at once', async () => {
    const workers = [book(), book(), book()];
    const claims = Array.from({ length: 50 }, claim);
    const answers = await Promise.all(
      claims.map(async (each, index) => await workers[index % 3]!.claim('payment-order-1', each)),
    );
    const owners = claims.filter((_, index) => answers[index]?.owner === 'this flow');
    expect(owners).toHaveLength(1);
    for (const answer of answers.filter((each) => each.owner === 'another flow'))
      expect(answer).toMatchObject({ firstRunId: owners[0]?.firstRunId, fingerprint: FINGERPRINT, namespace: 'shop' });
    expect(await server.query('SELECT first_run_id FROM holdfast_references')).toEqual([
      { first_run_id: owners[0]?.firstRunId },
    ]);
  });

  test('knows its owner again, and tells others of the latest payment', async () => {
    const mine = claim();
    const before = book();
    expect(await before.claim('payment-order-2', mine)).toEqual({ owner: 'this flow' });
    await before.notePayment('payment-order-2', mine, 'payment-1');
    await before.notePayment('payment-order-2', mine, 'payment-2');
    const after = book();
    expect(await after.claim('payment-order-2', mine)).toEqual({ owner: 'this flow' });
    expect(await after.claim('payment-order-2', claim())).toEqual({
      owner: 'another flow',
      ...mine,
      namespace: 'shop',
      paymentId: 'payment-2',
      claimedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(await after.claim('payment-order-20', claim())).toEqual({ owner: 'this flow' });
  });

  test('says who has a reference, and claims nothing', async () => {
    const mine = claim();
    expect(await book().ownerOf('payment-order-8', mine)).toBeUndefined();
    expect(await server.query('SELECT count(*)::int AS rows FROM holdfast_references')).toEqual([{ rows: 0 }]);
    await book().claim('payment-order-8', mine);
    expect(await book().ownerOf('payment-order-8', mine)).toEqual({ owner: 'this flow' });
    expect(await book().ownerOf('payment-order-8', claim())).toMatchObject({ owner: 'another flow', ...mine });
  });

  test('enters the payment of its owner only', async () => {
    const mine = claim();
    await book().claim('payment-order-3', mine);
    await expect(book().notePayment('payment-order-3', claim(), 'another')).rejects.toThrow('belongs to another flow');
    await expect(book().notePayment('payment-order-4', mine, 'none')).rejects.toThrow('is gone');
    expect(await server.query('SELECT payment_id FROM holdfast_references')).toEqual([{ payment_id: null }]);
  });

  test('keeps test and live apart', async () => {
    await book({ environment: 'test' }).claim('payment-order-5', claim());
    expect(await book({ environment: 'live' }).claim('payment-order-5', claim())).toEqual({ owner: 'this flow' });
  });

  test('needs no permission to create where its table is there', async () => {
    const role = `worker_${randomUUID().slice(0, 8)}`;
    await createReferenceBookTable(server.url());
    await server.query(
      `CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'; GRANT SELECT, INSERT, UPDATE ON holdfast_references TO ${role}`,
    );
    const url = server.url().replace('holdfast:', `${role}:`);
    const mine = claim();
    expect(await book({ url }).claim('payment-order-6', mine)).toEqual({ owner: 'this flow' });
    await book({ url }).notePayment('payment-order-6', mine, 'payment-6');
    await server.query('DROP TABLE holdfast_references');
    await expect(book({ url }).claim('payment-order-6', mine)).rejects.toThrow('permission denied');
  });

  test('refuses a database that may forget what it has committed', async () => {
    await server.query(`CREATE ROLE hasty LOGIN SUPERUSER PASSWORD '${PASSWORD}'`);
    await server.query('ALTER ROLE hasty SET synchronous_commit = off');
    const url = server.url().replace('holdfast:', 'hasty:');
    await expect(book({ url }).claim('payment-order-7', claim())).rejects.toThrow('synchronous_commit off');
  });

  test('says before any claim that it can not be written to', async () => {
    const told = async (role: string) =>
      await book({ url: server.url().replace('holdfast:', `${role}:`) })
        .check()
        .then(String, String);
    await book().check();
    await server.query(
      `CREATE ROLE on_standby LOGIN SUPERUSER PASSWORD '${PASSWORD}'; ALTER ROLE on_standby SET default_transaction_read_only = on;
       CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'; GRANT SELECT, INSERT ON holdfast_references TO reader`,
    );
    expect(await told('on_standby')).toContain('takes no writes');
    expect(await told('reader')).toContain('needs SELECT, INSERT and UPDATE');
    await server.query('GRANT UPDATE (payment_id) ON holdfast_references TO reader');
    expect(await told('reader')).toBe('undefined');
  });

  test('claims nothing once it leads to a database that may forget, nor makes its table anew once that is gone', async () => {
    const lasting = book();
    await lasting.claim('payment-order-12', claim());
    await server.query('ALTER ROLE holdfast SET synchronous_commit = off');
    await server.stop();
    await server.run();
    await expect(lasting.check()).rejects.toThrow('synchronous_commit off');
    await expect(lasting.claim('payment-order-13', claim())).rejects.toThrow('synchronous_commit off');
    await server.query('ALTER ROLE holdfast RESET synchronous_commit');
    await server.stop();
    await server.run();
    await lasting.check();
    await server.query('ALTER TABLE holdfast_references RENAME TO elsewhere');
    await expect(lasting.claim('payment-order-13', claim())).rejects.toThrow('does not exist');
    await expect(lasting.check()).rejects.toThrow('was there and is gone');
    await expect(lasting.claim('payment-order-13', claim())).rejects.toThrow('was there and is gone');
    await server.query('ALTER TABLE elsewhere RENAME TO holdfast_references');
    expect(await lasting.claim('payment-order-12', claim())).toMatchObject({ owner: 'another flow' });
  });

  test('says what is wrong without the password, and recovers when it is mended', async () => {
    const lasting = book();
    await lasting.claim('payment-order-8', claim());
    const told = async (url?: string) =>
      await (url === undefined ? lasting : book({ url })).claim('payment-order-9', claim()).then(String, String);
    expect(await told(server.url('nowhere'))).toContain('database "nowhere" does not exist');
    const wrong = await told(server.url().replace(PASSWORD, `${PASSWORD}x`));
    expect(wrong).toContain('password authentication failed');
    expect(wrong).not.toContain(PASSWORD);
    await server.stop('SIGQUIT');
    expect(await told()).toMatch(/ECONNREFUSED|terminat/);
    expect(await told()).toMatch(/ECONNREFUSED/);
    await server.run();
    expect(await lasting.claim('payment-order-9', claim())).toEqual({ owner: 'this flow' });
    // What was committed before the crash is still there.
    expect(await lasting.claim('payment-order-8', claim())).toMatchObject({ owner: 'another flow' });
  });

  test('gives up after a moment on a server that does not answer', async () => {
    const lasting = book();
    await lasting.claim('payment-order-10', claim());
    const locked = server.query('BEGIN; LOCK TABLE holdfast_references; SELECT pg_sleep(4)');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const begun = Date.now();
    await expect(lasting.claim('payment-order-11', claim())).rejects.toThrow(/no answer within|timeout/i);
    expect(Date.now() - begun).toBeLessThan(3_000);
    await locked;
  });
});
