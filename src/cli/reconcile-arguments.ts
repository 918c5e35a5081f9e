import type { Command } from 'commander';
import { durationMs } from '../contract/fields.js';
import { FINDING_KINDS, type FindingKind, type ReconcileInput } from '../contract/reconcile.js';

export type ReconcileRequest = ReconcileRunRequest | ReconcileListRequest | ReconcileAckRequest;

export interface ReconcileRunRequest {
  command: 'reconcile run';
  json: boolean;
  /** Of the reconciliation that the workers do; left out with `statements`. */
  input: ReconcileInput;
  /** Files that this command matches itself. */
  statements: readonly string[];
  covers?: string;
}

export interface ReconcileListRequest {
  command: 'reconcile list';
  json: boolean;
  kinds: readonly FindingKind[];
  /** Also those that were acknowledged. */
  all: boolean;
  limit: number;
}

export interface ReconcileAckRequest {
  command: 'reconcile ack';
  json: boolean;
  /** As names: those that `reconcile list` shows for the kinds, found up to then, if they are so many. */
  findings: readonly string[] | { kinds: readonly FindingKind[]; limit: number; until: Date; count: number };
  who: string;
  why: string;
}

/** What the command line gives to the commands of one group. */
interface Parsing {
  text: (option: string) => (value: string) => string;
  texts: (option: string) => (value: string, earlier?: string[]) => string[];
  oneOf: (option: string, choices: readonly string[]) => (value: string, earlier?: string[]) => string[];
  wholeOf: (option: string, least: number, most: number) => (value: string) => number;
  instantOf: (option: string) => (value: string) => Date;
  json: () => boolean;
  faults: string[];
  ask: (request: ReconcileRequest) => void;
}

interface Given {
  since?: Date;
  until?: Date;
  sample?: number;
  rate?: number;
  window?: string;
  statement?: string[];
  covers?: string;
  kind?: string[];
  count?: number;
  all?: true;
  limit: number;
  who: string;
  why: string;
}

const LISTED = 200;

export function addReconcileCommands(program: Command, parsing: Parsing): void {
  const { text, texts, oneOf, wholeOf, instantOf, json, faults, ask } = parsing;
  const reconcile = program.command('reconcile').description('differences between flows and the payment service');
  const kinds = oneOf('--kind', FINDING_KINDS);

  reconcile
    .command('run', { isDefault: true })
    .description(
      'asks the service about every flow with a doubt and a sample of the rest, or matches a statement; exit code 1 if it ' +
        'finds a difference',
    )
    .option(
      '--statement <file>',
      'match this statement instead (JSON lines or CSV); may be repeated',
      texts('--statement'),
    )
    .option('--covers <from,until>', 'for what time it has everything, where it does not say so', text('--covers'))
    .option(
      '--since <instant>',
      'flows that ended from here on (default: 25 hours before --until)',
      instantOf('--since'),
    )
    .option('--until <instant>', 'default: two hours ago, since lists lag', instantOf('--until'))
    .option('--sample <percent>', 'of the flows without a doubt (default: 1)', wholeOf('--sample', 0, 100))
    .option('--rate <number>', 'at most so many questions a second (default: 5)', wholeOf('--rate', 1, 1_000))
    .option('--window <duration>', 'how long money may be on its way (default: 1 day)', text('--window'))
    .action((given: Given) => {
      const { statement = [], covers, since, until, sample, rate, window } = given;
      if (window !== undefined && durationMs(window) === undefined)
        faults.push(`--window ${JSON.stringify(window)}: use a duration such as "2 days"`);
      if (covers !== undefined && statement.length === 0) faults.push('--covers goes with --statement');
      const others = { since, until, sample, rate };
      if (statement.length > 0)
        for (const [name, value] of Object.entries(others))
          if (value !== undefined) faults.push(`--${name} does not go with --statement, which says its time itself`);
      if (since !== undefined && until !== undefined && since >= until) faults.push('--since must be before --until');
      const input: ReconcileInput = {
        ...(since !== undefined && { since: since.toISOString() }),
        ...(until !== undefined && { until: until.toISOString() }),
        ...(sample !== undefined && { sample: sample / 100 }),
        ...(rate !== undefined && { readsPerSecond: rate }),
        ...(window !== undefined && { settlementWindow: window }),
      };
      const asked = { command: 'reconcile run', json: json(), input, statements: statement } as const;
      ask({ ...asked, ...(covers !== undefined && { covers }) });
    });

  reconcile
    .command('list')
    .description('the differences that were found and not acknowledged, the newest first')
    .option('--kind <kind>', `${FINDING_KINDS.join(', ')}; may be repeated`, kinds)
    .option('--all', 'also those that were acknowledged')
    .option('--limit <number>', 'at most so many', wholeOf('--limit', 1, 10_000), LISTED)
    .action(({ kind = [], all, limit }: Given) =>
      ask({ command: 'reconcile list', json: json(), kinds: kind as FindingKind[], all: all === true, limit }),
    );

  reconcile
    .command('ack [finding...]')
    .description('acknowledges differences, with who has looked into them and why they may be closed')
    .requiredOption('--who <name>', 'who has looked into it', text('--who'))
    .requiredOption('--why <text>', 'what it was, and what was done', text('--why'))
    .option('--all', 'those that reconcile list shows with the same --kind')
    .option(
      '--until <instant>',
      'needed with --all: when the newest was found, as reconcile list says; those after it nobody has seen',
      instantOf('--until'),
    )
    .option(
      '--count <number>',
      'needed with --all: how many reconcile list has shown; of another number none is closed',
      wholeOf('--count', 1, 10_000),
    )
    .option('--kind <kind>', 'with --all; may be repeated', kinds)
    .option(
      '--limit <number>',
      'with --all: as reconcile list had it; of more than it has shown none is closed',
      wholeOf('--limit', 1, 10_000),
      LISTED,
    )
    .action((names: string[], { who, why, all, kind, limit, until, count }: Given) => {
      if ((all === true) === names.length > 0)
        faults.push('reconcile ack takes findings as reconcile list shows them, or --all');
      if (kind !== undefined && all !== true) faults.push('--kind goes with --all');
      if (until !== undefined && all !== true) faults.push('--until goes with --all');
      if (count !== undefined && all !== true) faults.push('--count goes with --all');
      if (all === true && (until === undefined || count === undefined))
        faults.push('--all needs --until and --count, as reconcile list says them at its end');
      const shown = { kinds: (kind ?? []) as FindingKind[], limit, until: until ?? new Date(0), count: count ?? 0 };
      const findings = all === true ? shown : names;
      ask({ command: 'reconcile ack', json: json(), findings, who, why });
    });
}
