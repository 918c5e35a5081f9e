import { describe, expect, test } from 'vitest';
import { parseRequest } from '../../src/cli/arguments.js';
import { holdfast } from './command.js';

const COMMANDS =
  'list, show, explain, approve, reject, export, redrive, subscriptions import, ' +
  'subscriptions bulk pause, subscriptions bulk resume, subscriptions bulk cancel, subscriptions bulk move, subscriptions bulk change-card, ' +
  'subscriptions bulk status, subscriptions bulk results, subscriptions bulk stop, reconcile run, reconcile list, reconcile ack, events list, events replay, events export, ' +
  'setup, notifications list, notifications resend, brake, release, brakes, deploy status, deploy drain, replay';

describe('the command line', () => {
  test('of list is read with its defaults', () => {
    expect(parseRequest(['list'])).toEqual({
      command: 'list',
      json: false,
      options: { stuck: false, open: false, statuses: [], waitingFor: [], businessUnits: [], limit: 50 },
    });
  });

  test('takes an option several times, before or behind the command', () => {
    expect(parseRequest(['--json', 'list', '--status', 'pending', '--status=started', '--limit', '7'])).toMatchObject({
      json: true,
      options: { statuses: ['pending', 'started'], limit: 7 },
    });
  });

  test('of events is read with what it chooses', () => {
    const options = { statuses: ['unclaimed'], needsOperator: true, paymentId: '9c1d', limit: 3 };
    const chosen = ['--stuck', '--status', 'unclaimed', '--payment', '9c1d'];
    expect(parseRequest(['events', 'list', ...chosen, '--limit', '3'])).toEqual({
      command: 'events list',
      json: false,
      options,
    });
    expect(parseRequest(['events', 'replay', '--all', ...chosen])).toEqual({
      command: 'events replay',
      json: false,
      events: { ...options, limit: 10_000 },
    });
    expect(parseRequest(['events', 'replay', 'a', 'b'])).toMatchObject({ events: ['a', 'b'] });
    expect(parseRequest(['setup'])).toEqual({ command: 'setup', json: false });
    expect(parseRequest(['setup', '--retention-days', '90'])).toMatchObject({ retentionDays: 90 });
  });

  test('of deploys is read with its defaults', () => {
    expect(parseRequest(['deploy', 'status'])).toEqual({ command: 'deploy status', json: false });
    const drain = { command: 'deploy drain', json: false, build: 'v1', rate: 20, wait: 30, payments: false };
    expect(parseRequest(['deploy', 'drain', '--build', 'v1'])).toEqual(drain);
    const given = ['--rate', '5', '--wait', '0', '--payments', '--json'];
    expect(parseRequest(['deploy', 'drain', '--build', 'v1', ...given])).toEqual({
      ...drain,
      json: true,
      rate: 5,
      wait: 0,
      payments: true,
    });
    const replay = { command: 'replay', json: false, open: true, recent: true, pinned: false, limit: 500 };
    expect(parseRequest(['replay'])).toEqual(replay);
    expect(parseRequest(['replay', '--open', '--limit', '1000000'])).toEqual({
      ...replay,
      recent: false,
      limit: 1_000_000,
    });
    expect(parseRequest(['replay', '--open', '--recent', '--pinned'])).toEqual({ ...replay, pinned: true });
  });

  test('of files of lines is read with its defaults', () => {
    const lines = { json: false, file: 'a.jsonl', rate: 5 };
    expect(parseRequest(['redrive', 'a.jsonl'])).toEqual({ command: 'redrive', ...lines });
    expect(parseRequest(['redrive', 'a.jsonl', '--statement', 's'])).toMatchObject({ statement: 's' });
    const imported = { command: 'subscriptions import', ...lines };
    expect(parseRequest(['subscriptions', 'import', 'a.jsonl'])).toEqual(imported);
    const given = ['--rate', '50', '--report', 'r.jsonl'];
    expect(parseRequest(['subscriptions', 'import', 'a.jsonl', ...given])).toEqual({
      ...imported,
      rate: 50,
      report: 'r.jsonl',
    });
  });

  test('of brakes is read with what it stops', () => {
    const person = ['--who', 'Ada', '--why', 'charges twice'];
    const request = { businessUnit: 'shop', who: 'Ada', why: 'charges twice' };
    expect(parseRequest(['brake', 'shop', ...person])).toEqual({ command: 'brake', json: false, request });
    expect(parseRequest(['brake', 'shop', ...person, '--refunds'])).toMatchObject({
      request: { ...request, refunds: true },
    });
    const since = '2027-01-31T00:00:00.000Z';
    expect(parseRequest(['release', 'shop', ...person, '--since', since])).toMatchObject({ request: { since } });
    expect(parseRequest(['release', 'shop', ...person])).toEqual({ command: 'release', json: false, request });
    expect(parseRequest(['brakes'])).toEqual({ command: 'brakes', json: false });
  });

  test('of reconcile is read with its defaults, and with what it names', () => {
    const run = { command: 'reconcile run', json: false, input: {}, statements: [] };
    expect(parseRequest(['reconcile'])).toEqual(run);
    expect(parseRequest(['reconcile', 'run', '--since', '2027-01-31T00:00Z', '--sample', '5', '--rate', '20'])).toEqual(
      {
        ...run,
        input: { since: '2027-01-31T00:00:00.000Z', sample: 0.05, readsPerSecond: 20 },
      },
    );
    const covers = '2027-01-30T00:00Z,2027-01-31T00:00Z';
    const files = ['--statement', 'a.csv', '--statement', 'b.jsonl', '--covers', covers, '--window', '2 days'];
    expect(parseRequest(['reconcile', ...files])).toEqual({
      ...run,
      input: { settlementWindow: '2 days' },
      statements: ['a.csv', 'b.jsonl'],
      covers,
    });
    expect(parseRequest(['reconcile', 'list', '--kind', 'late', '--all'])).toEqual({
      command: 'reconcile list',
      json: false,
      kinds: ['late'],
      all: true,
      limit: 200,
    });
    const ack = { command: 'reconcile ack', json: false, who: 'Ada', why: 'seen' };
    const person = ['--who', 'Ada', '--why', 'seen'];
    expect(parseRequest(['reconcile', 'ack', '5f0c6c1e', ...person])).toEqual({ ...ack, findings: ['5f0c6c1e'] });
    const shown = ['--until', '2027-01-31T00:00Z', '--count', '3'];
    expect(parseRequest(['reconcile', 'ack', '--all', ...shown, ...person])).toEqual({
      ...ack,
      findings: { kinds: [], limit: 200, until: new Date('2027-01-31T00:00Z'), count: 3 },
    });
  });

  test.each([
    [['reconcile', 'january.csv'], ["too many arguments for 'run'. Expected 0 arguments but got 1."]],
    [
      ['reconcile', '--window', 'soon', '--covers', 'x', '--sample', '101'],
      [
        '--sample "101": use a number from 0 to 100',
        '--window "soon": use a duration such as "2 days"',
        '--covers goes with --statement',
      ],
    ],
    [
      ['reconcile', '--statement', 'a.csv', '--rate', '5'],
      ['--rate does not go with --statement, which says its time itself'],
    ],
    [['reconcile', '--since', '2027-01-31T00:00Z', '--until', '2027-01-31T00:00Z'], ['--since must be before --until']],
    [
      ['reconcile', 'ack', '--all', '--who', 'Ada', '--why', 'seen'],
      ['--all needs --until and --count, as reconcile list says them at its end'],
    ],
    [['reconcile', 'ack', 'a'], ["required option '--who <name>' not specified"]],
    [
      ['reconcile', 'ack', '--who', 'Ada', '--why', '', '--kind', 'late'],
      [
        '--why needs a value',
        'reconcile ack takes findings as reconcile list shows them, or --all',
        '--kind goes with --all',
      ],
    ],
    [
      ['reconcile', 'list', '--kind', 'lost'],
      [
        '--kind "lost": use one of moneyWithoutFlow, moneyTwice, otherAmount, flowWithoutMoney, late, unfollowed, disputed',
      ],
    ],
    [
      ['brake', 'a b', '--who', '', '--why', 'x'.repeat(201)],
      [
        'businessUnit: "a b" is not the name of a business unit',
        'who: Too small: expected string to have >=1 characters',
        'why: Too big: expected string to have <=200 characters',
      ],
    ],
    [['release', 'shop', '--who', 'Ada'], ["required option '--why <text>' not specified"]],
    [['lst'], ["unknown command 'lst' (Did you mean list?)"]],
    [[], [`No command is given: use one of ${COMMANDS}`]],
    [['list', '--limit', '--json'], ["option '--limit <number>' argument missing"]],
    [['list', '--limit', '0'], ['--limit "0": use a number from 1 to 10000']],
    [['setup', 'shop'], ['setup takes no "shop": name the namespace in TEMPORAL_NAMESPACE']],
    [['setup', '--retention-days', '1y'], ['--retention-days "1y": use a number from 1 to 36500']],
    [['list', '--business-unit', '--open'], ['--business-unit needs a value']],
    [['list', 'order-1'], ['list takes no "order-1": for one flow use show or explain']],
    [['list', '--json=yes'], ["unknown option '--json=yes'"]],
    [['show'], ["missing required argument 'reference'"]],
    [['explain', 'a', 'b'], ["too many arguments for 'explain'. Expected 1 argument but got 2."]],
    [['show', 'order-1', '--stuck'], ["unknown option '--stuck'"]],
    [['export', 'a.jsonl'], ["required option '--since <instant>' not specified"]],
    [
      ['export', 'a.jsonl', '--since', '2027-01-31'],
      ['--since "2027-01-31": use an instant with its zone, such as 2027-01-31T00:00:00Z'],
    ],
    [
      ['export', 'a.jsonl', '--since', '2026-02-01T00:00Z', '--until', '2026-01-01T00:00:00+01:00'],
      ['--since must be before --until (2025-12-31T23:00:00.000Z)'],
    ],
    [
      ['export', 'a.jsonl', '--since', '2026-01-01T00:00Z', '--until', '9999-01-01T00:00Z'],
      ['--until lies in the future: what ends until then is not known'],
    ],
    [['list', '--toString'], ["unknown option '--toString'"]],
    [['events'], [`No command is given: use one of ${COMMANDS}`]],
    [['events', 'list', '3fa9c1d27b04'], ['events list takes no "3fa9c1d27b04": for one event use explain']],
    [['events', 'list', '--status', 'lost'], ['--status "lost": use one of parked, unclaimed, delivered']],
    [['events', 'list', '--all'], ["unknown option '--all'"]],
    [['events', 'replay'], ['events replay takes events, as in: npx holdfast events replay 3fa9c1d27b04, or --all']],
    [['events', 'replay', 'a', '--status', 'parked'], ['--status goes with --all']],
    [['approve', 'order-7', '--why', 'case 17'], ["required option '--who <name>' not specified"]],
    [['deploy', 'drain'], ["required option '--build <name>' not specified"]],
    [
      ['deploy', 'drain', '--build', '', '--rate', '0'],
      ['--build needs a value', '--rate "0": use a number from 1 to 1000'],
    ],
    [
      ['redrive', 'orders.jsonl', '--rate', '0.5', '--statement', ''],
      ['--rate "0.5": use a number from 1 to 1000', '--statement needs a value'],
    ],
    [
      ['subscriptions', 'import', 'club.jsonl', '--rate', '1001', '--report', ''],
      ['--rate "1001": use a number from 1 to 1000', '--report needs a value'],
    ],
    [['subscriptions', 'import'], ["missing required argument 'file'"]],
    [['deploy', 'status', 'v1'], ["too many arguments for 'status'. Expected 0 arguments but got 1."]],
    [['replay', '--limit', '1e3'], ['--limit "1e3": use a number from 1 to 1000000']],
  ])('refuses %j with exit code 2 before it connects anywhere', async (args, faults) => {
    const { code, out, err } = await holdfast({ TEMPORAL_ADDRESS: '127.0.0.1:1' }, args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.trim().split('\n').slice(0, -1)).toEqual(faults);
  });

  test('that is wrong in several ways is told all of them at once', async () => {
    const args = ['list', '--status', 'paid', '--waiting-for', 'godot', '--limit', 'many', '--colour'];
    const { code, err } = await holdfast({}, args);
    expect(code).toBe(2);
    for (const fault of ['"paid"', '"godot"', '"many"', '--colour']) expect(err).toContain(fault);
  });

  test.each([[['help', 'list']], [['list', '--help']]])(
    'of %j is answered with every option of that command',
    async (args) => {
      const { code, out } = await holdfast({}, args);
      expect(code).toBe(0);
      for (const text of ['--stuck', '--status <status>', 'underReview', '--limit <number>', 'default: 50', '--json'])
        expect(out).toContain(text);
    },
  );

  test('of --help is answered with every command', async () => {
    const { code, out } = await holdfast({}, ['--help']);
    expect(code).toBe(0);
    for (const command of [
      'list [options]',
      'show [options] <reference>',
      'explain [options] <reference>',
      'events list [options]',
      'events replay [options] [event...]',
      'deploy status [options]',
      'deploy drain [options]',
      'replay [options]',
      'subscriptions import [options] <file>',
    ])
      expect(out).toContain(command);
  });
});
