import { Command, CommanderError } from 'commander';
import { PAYMENT_STATUSES, WAITING_FOR } from '../contract/statuses.js';
import { addBrakeCommands, type BrakesRequest } from './brake-arguments.js';
import { addBulkCommands, type BulkRequest } from './bulk-arguments.js';
import { addApprovalCommands, type ApprovalRequest } from './approval-arguments.js';
import { addDeployCommands, type DeployRequest } from './deploy-arguments.js';
import { addReconcileCommands, type ReconcileRequest } from './reconcile-arguments.js';
import { UsageError } from './errors.js';
import type { ExportOptions } from './export.js';
import { addLineCommands, type LinesRequest } from './line-arguments.js';
import { addNotificationCommands, type NotificationRequest } from './notification-arguments.js';
import { EVENT_STATUSES, type EventStatus, type ListEventsOptions } from './events.js';
import type { ListOptions } from './visibility-query.js';

export type Request =
  | { command: 'help'; text: string }
  | { command: 'list'; json: boolean; options: ListOptions }
  | { command: 'show' | 'explain'; json: boolean; reference: string }
  | { command: 'export'; json: boolean; options: ExportOptions }
  | { command: 'events list'; json: boolean; options: EventOptions }
  | { command: 'setup'; json: boolean; retentionDays?: number }
  | LinesRequest
  /** `events` as options: every event that matches them. */
  | { command: 'events replay'; json: boolean; events: readonly string[] | EventOptions }
  | NotificationRequest
  | ApprovalRequest
  | ReconcileRequest
  | BrakesRequest
  | BulkRequest
  | DeployRequest;

export type EventOptions = ListEventsOptions & { limit: number };

/** Options of all commands as commander returns them. */
interface Given {
  stuck?: true;
  open?: true;
  all?: true;
  status?: string[];
  waitingFor?: string[];
  businessUnit?: string[];
  payment?: string;
  limit: number;
  retentionDays?: number;
  since: Date;
  until?: Date;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;
const MAX_RETENTION_DAYS = 36_500;
/** ms. Visibility lags, by seconds as a rule. */
const LISTED_AFTER_MS = 5 * 60_000;
/** Maximum length of a search attribute on SQL databases, in characters. */
const MAX_VALUE = 255;

const NOTES = `
What a command takes: npx holdfast help list, npx holdfast events help replay.

A reference is the merchant's own, a workflow id, or the id of a payment. Temporal is that of npm start in this folder
(.holdfast/run.json), or else that of the environment (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, HOLDFAST_ENCRYPTION_KEYS,
...).`;

/**
 * Parses the command line.
 * @throws UsageError that lists every wrong value, and the first fault of another kind
 */
export function parseRequest(args: readonly string[]): Request {
  const faults: string[] = [];
  let request: Request | undefined;
  let help = '';
  const program = new Command('npx holdfast')
    .exitOverride()
    .configureOutput({ writeOut: (text) => void (help += text), writeErr: () => {} });
  addCommands(program, faults, (asked) => (request = asked));
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { command: 'help', text: help };
    faults.push(
      error.code === 'commander.help'
        ? `No command is given: use one of ${leavesOf(program).map(nameOf).join(', ')}`
        : error.message.replace('error: ', '').replaceAll('\n', ' '),
    );
  }
  if (faults.length > 0 || request === undefined) throw new UsageError(faults);
  return request;
}

function addCommands(program: Command, faults: string[], ask: (request: Request) => void): void {
  const { text, texts, oneOf, wholeOf, instantOf } = readers(faults);
  const limitOf = wholeOf('--limit', 1, MAX_LIMIT);
  const json = (): boolean => program.opts<{ json?: true }>().json === true;
  const refuseNames = (command: Command, instead: string): void => {
    const names = command.args.map((name) => JSON.stringify(name)).join(', ');
    if (names !== '') faults.push(`${nameOf(command)} takes no ${names}: ${instead}`);
  };

  program
    .usage('<command> [options]')
    .configureHelp({
      showGlobalOptions: true,
      visibleCommands: ({ commands }) => commands.flatMap(leavesOf),
      subcommandTerm: (command) => `${nameOf(command)} ${command.usage()}`,
    })
    .option('--json', 'for scripts')
    .addHelpText('after', NOTES);

  program
    .command('list')
    .description('flows, open ones first')
    .option('--stuck', 'only those that need an operator, are past due, or were stopped from outside')
    .option('--open', 'only those that have not ended')
    .option('--status <status>', `${PAYMENT_STATUSES.join(', ')}; may be repeated`, oneOf('--status', PAYMENT_STATUSES))
    .option('--waiting-for <what>', `${WAITING_FOR.join(', ')}; may be repeated`, oneOf('--waiting-for', WAITING_FOR))
    .option('--business-unit <name>', 'may be repeated', texts('--business-unit'))
    .option('--limit <number>', 'at most so many', limitOf, DEFAULT_LIMIT)
    .allowExcessArguments()
    .action(({ stuck, open, status, waitingFor, businessUnit, limit }: Given, command: Command) => {
      refuseNames(command, 'for one flow use show or explain');
      const chosen = { statuses: status ?? [], waitingFor: waitingFor ?? [], businessUnits: businessUnit ?? [] };
      const options = { stuck: stuck === true, open: open === true, ...chosen, limit };
      ask({ command: 'list', json: json(), options });
    });

  program
    .command('show <reference>')
    .description('where a flow stands, how that is known, and what it has done')
    .action((reference: string) => ask({ command: 'show', json: json(), reference }));
  program
    .command('explain <reference>')
    .description('in a sentence: what it waits for, until when, what is safe to do')
    .action((reference: string) => ask({ command: 'explain', json: json(), reference }));

  addApprovalCommands(program, { text, json, ask });

  program
    .command('export <file>')
    .description('every run that has ended in a time, as lines of JSON, before Temporal forgets it')
    .requiredOption('--since <instant>', 'such as 2027-01-31T00:00:00Z', instantOf('--since'))
    .option(
      '--until <instant>',
      'default: five minutes ago, since what has just ended may not be listed',
      instantOf('--until'),
    )
    .action((file: string, { since, until = new Date(Date.now() - LISTED_AFTER_MS) }: Given) => {
      if (until <= since) faults.push(`--since must be before --until (${until.toISOString()})`);
      if (until.getTime() > Date.now()) faults.push('--until lies in the future: what ends until then is not known');
      ask({ command: 'export', json: json(), options: { file, since, until } });
    });

  const subscriptions = addLineCommands(program, { text, wholeOf, json, ask });
  addBulkCommands(subscriptions, { wholeOf, json, faults, ask });

  addReconcileCommands(program, { text, texts, oneOf, wholeOf, instantOf, json, faults, ask });

  const events = program
    .command('events')
    .description('webhooks that have found no flow, and what merchants were told');
  const withFilters = (command: Command): Command =>
    command
      .option('--stuck', 'only those that need an operator')
      .option(
        '--status <status>',
        `${EVENT_STATUSES.join(', ')} (default: the first two); may be repeated`,
        oneOf('--status', EVENT_STATUSES),
      )
      .option('--payment <id>', 'only those of this payment', text('--payment'));
  withFilters(events.command('list'))
    .description('webhooks that have found no flow, the newest first')
    .option('--limit <number>', 'at most so many', limitOf, DEFAULT_LIMIT)
    .allowExcessArguments()
    .action((given: Given, command: Command) => {
      refuseNames(command, 'for one event use explain');
      ask({ command: 'events list', json: json(), options: eventOptions(given, given.limit) });
    });
  withFilters(events.command('replay [event...]'))
    .description('looks for their flows now; an event is named as events list shows it')
    .option('--all', 'those that events list shows with the same options')
    .action((names: string[], { all, ...filters }: Pick<Given, 'all' | 'stuck' | 'status' | 'payment'>) => {
      if ((all === true) === names.length > 0) {
        faults.push('events replay takes events, as in: npx holdfast events replay 3fa9c1d27b04, or --all');
      }
      if (all !== true) for (const option of Object.keys(filters)) faults.push(`--${option} goes with --all`);
      const chosen = all === true ? eventOptions(filters, MAX_LIMIT) : names;
      ask({ command: 'events replay', json: json(), events: chosen });
    });

  program
    .command('setup')
    .description('makes the namespace fit for workers; once before the first start, and with each new version')
    .option(
      '--retention-days <days>',
      'keep closed flows so long at least (default: 365 in a namespace that it makes)',
      wholeOf('--retention-days', 1, MAX_RETENTION_DAYS),
    )
    .allowExcessArguments()
    .action(({ retentionDays }: Given, command: Command) => {
      refuseNames(command, 'name the namespace in TEMPORAL_NAMESPACE');
      ask({ command: 'setup', json: json(), ...(retentionDays !== undefined && { retentionDays }) });
    });
  addNotificationCommands(program, events, { instantOf, json, ask, faults });
  addBrakeCommands(program, { json, instantOf, faults, ask });
  addDeployCommands(program, { text, wholeOf, json, ask });
}

/** Commands without subcommands. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

function eventOptions({ stuck, status, payment }: Partial<Given>, limit: number): EventOptions {
  return {
    limit,
    ...(stuck === true && { needsOperator: true }),
    ...(status !== undefined && { statuses: status as EventStatus[] }),
    ...(payment !== undefined && { paymentId: payment }),
  };
}

/** Parsers of option values. They collect every fault; commander would stop at the first. */
function readers(faults: string[]) {
  const text = (option: string) => (value: string) => {
    if (/^(--|$)/.test(value)) faults.push(`${option} needs a value`);
    if (value.length > MAX_VALUE) faults.push(`${option}: at most ${MAX_VALUE} characters`);
    return value;
  };
  return {
    text,
    texts:
      (option: string) =>
      (value: string, earlier: string[] = []) => [...earlier, text(option)(value)],
    /** Refuses unknown values: a mistyped one would match nothing, which looks as if no flow had problems. */
    oneOf:
      (option: string, choices: readonly string[]) =>
      (value: string, earlier: string[] = []) => {
        if (!choices.includes(value)) {
          faults.push(`${option} ${JSON.stringify(value)}: use one of ${choices.join(', ')}`);
        }
        return [...earlier, value];
      },
    instantOf: (option: string) => (value: string) => {
      const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(value)
        ? new Date(value)
        : undefined;
      if (instant !== undefined && !Number.isNaN(instant.getTime())) return instant;
      faults.push(`${option} ${JSON.stringify(value)}: use an instant with its zone, such as 2027-01-31T00:00:00Z`);
      return new Date(0);
    },
    wholeOf: (option: string, least: number, most: number) => (value: string) => {
      const number = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= least && number <= most)) {
        faults.push(`${option} ${JSON.stringify(value)}: use a number from ${least} to ${most}`);
      }
      return number;
    },
  };
}
