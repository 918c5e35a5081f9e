import { parseArgs } from 'node:util';
import { PAYMENT_STATUSES, WAITING_FOR } from '../contract/statuses.js';
import { UsageError } from './errors.js';
import { EVENT_STATUSES, type EventStatus, type ListEventsOptions } from './events.js';
import type { ListOptions } from './visibility-query.js';

export type Request =
  | { command: 'help' }
  | { command: 'list'; json: boolean; options: ListOptions }
  | { command: 'show' | 'explain'; json: boolean; reference: string }
  | { command: 'events list'; json: boolean; options: EventOptions }
  /** `options`: every event that these choose. */
  | { command: 'events replay'; json: boolean; events: readonly string[] | EventOptions };

export type EventOptions = ListEventsOptions & { limit: number };

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  stuck: { type: 'boolean' },
  open: { type: 'boolean' },
  status: { type: 'string', multiple: true },
  'waiting-for': { type: 'string', multiple: true },
  'business-unit': { type: 'string', multiple: true },
  payment: { type: 'string' },
  all: { type: 'boolean' },
  limit: { type: 'string' },
} as const;
type OptionName = keyof typeof OPTIONS;

const COMMANDS = {
  list: ['json', 'stuck', 'open', 'status', 'waiting-for', 'business-unit', 'limit'],
  show: ['json'],
  explain: ['json'],
  'events list': ['json', 'stuck', 'status', 'payment', 'limit'],
  'events replay': ['json', 'all', 'stuck', 'status', 'payment'],
} as const satisfies Record<string, readonly OptionName[]>;
type CommandName = keyof typeof COMMANDS;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;
/** Search attributes hold at most this many characters on SQL databases. */
const MAX_VALUE = 255;

export const HELP = `Usage: npx holdfast <command> [options]

  list                       flows, open ones first
    --stuck                  only those that need an operator, are past due, or were stopped from outside
    --open                   only those that have not ended
    --status <status>        ${PAYMENT_STATUSES.join(', ')}
    --waiting-for <what>     ${WAITING_FOR.join(', ')}
    --business-unit <name>
    --limit <number>         at most so many (default ${DEFAULT_LIMIT})
  show <reference>           where a flow stands, how that is known, and what it has done
  explain <reference>        in a sentence: what it waits for, until when, what is safe to do
  events list                webhooks that have found no flow, the newest first
    --stuck                  only those that need an operator
    --status <status>        ${EVENT_STATUSES.join(', ')} (default: the first two)
    --payment <id>
    --limit <number>         at most so many (default ${DEFAULT_LIMIT})
  events replay <event>...   looks for their flows now; an event is named as events list shows it
    --all                    those that events list shows with the same options

  --json                     for scripts
  --help

A reference is the merchant's own, a workflow id, or the id of a payment. --status, --waiting-for and --business-unit
may be given several times. Temporal is that of npm start in this folder (.holdfast/run.json), or else that of the
environment (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, HOLDFAST_ENCRYPTION_KEYS, ...).
`;

/**
 * Reads the command line.
 * @throws UsageError that lists every fault
 */
export function parseRequest(args: readonly string[]): Request {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    // Strict parsing stops at the first fault.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const [first, ...others] = positionals;
  if (values.help === true || first === 'help') return { command: 'help' };
  const [name, names] =
    first === 'events' ? [['events', ...others.slice(0, 1)].join(' '), others.slice(1)] : [first, others];
  const faults: string[] = [];
  const command = isCommand(name) ? name : undefined;
  if (command === undefined) {
    const given = name === undefined ? 'No command is given' : `There is no command ${JSON.stringify(name)}`;
    faults.push(`${given}: use one of ${Object.keys(COMMANDS).join(', ')}`);
  }
  for (const token of tokens) {
    if (token.kind === 'option') faults.push(...faultsOfOption(command, token));
  }
  const request = requestOf(command, names, values, faults);
  if (faults.length > 0 || request === undefined) throw new UsageError(faults);
  return request;
}

/** Notes every fault, of an unknown command too. */
function requestOf(
  command: CommandName | undefined,
  names: readonly string[],
  values: Values,
  faults: string[],
): Request | undefined {
  const json = values.json === true;
  switch (command) {
    case undefined:
      listOptions(values, faults);
      return undefined;
    case 'list':
      refuseNames(command, names, 'for one flow use show or explain', faults);
      return { command, json, options: listOptions(values, faults) };
    case 'events list':
      refuseNames(command, names, 'for one event use explain', faults);
      return { command, json, options: eventOptions(values, faults, limitOf(values.limit, faults)) };
    case 'events replay': {
      const all = values.all === true;
      const options = eventOptions(values, faults, MAX_LIMIT);
      if (all === names.length > 0) {
        faults.push('events replay takes events, as in: npx holdfast events replay 3fa9c1d27b04, or --all');
      }
      const filters = (['stuck', 'status', 'payment'] as const).filter((option) => values[option] !== undefined);
      if (!all) for (const option of filters) faults.push(`--${option} goes with --all`);
      return { command, json, events: all ? options : names };
    }
    default: {
      const [reference = '', ...more] = names;
      if (reference === '' || more.length > 0) {
        faults.push(`${command} takes one reference, as in: npx holdfast ${command} order-1001`);
      }
      return { command, json, reference };
    }
  }
}

function refuseNames(command: CommandName, names: readonly string[], instead: string, faults: string[]): void {
  if (names.length === 0) return;
  faults.push(`${command} takes no ${names.map((text) => JSON.stringify(text)).join(', ')}: ${instead}`);
}

function isCommand(name: string | undefined): name is CommandName {
  return name !== undefined && Object.hasOwn(COMMANDS, name);
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
}

function faultsOfOption(command: CommandName | undefined, { name, rawName, value }: OptionToken): string[] {
  if (!Object.hasOwn(OPTIONS, name)) return [`There is no option ${rawName}`];
  const known = name as OptionName;
  const needsValue = OPTIONS[known].type === 'string';
  if (needsValue && (value === undefined || value === '' || value.startsWith('--')))
    return [`${rawName} needs a value`];
  if (!needsValue && value !== undefined) return [`${rawName} takes no value`];
  const allowed: readonly OptionName[] = command === undefined ? [known] : COMMANDS[command];
  return allowed.includes(known) ? [] : [`${rawName} is no option of ${command}`];
}

type Values = { readonly [name in OptionName]?: unknown };

function listOptions(values: Values, faults: string[]): ListOptions {
  const businessUnits = texts(values['business-unit']);
  for (const unit of businessUnits) {
    if (unit.length > MAX_VALUE) faults.push(`--business-unit: at most ${MAX_VALUE} characters`);
  }
  return {
    stuck: values.stuck === true,
    open: values.open === true,
    statuses: chosen('--status', texts(values.status), PAYMENT_STATUSES, faults),
    waitingFor: chosen('--waiting-for', texts(values['waiting-for']), WAITING_FOR, faults),
    businessUnits,
    limit: limitOf(values.limit, faults),
  };
}

function eventOptions(values: Values, faults: string[], limit: number): EventOptions {
  const statuses = chosen('--status', texts(values.status), EVENT_STATUSES, faults) as EventStatus[];
  const [paymentId] = texts([values.payment]);
  if (paymentId !== undefined && paymentId.length > MAX_VALUE) {
    faults.push(`--payment: at most ${MAX_VALUE} characters`);
  }
  return {
    limit,
    ...(values.stuck === true && { needsOperator: true }),
    ...(statuses.length > 0 && { statuses }),
    ...(paymentId !== undefined && { paymentId }),
  };
}

/** A missing value has been reported already. */
function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string' && !/^(--|$)/.test(item)) : [];
}

/** A mistyped value would match nothing, which reads as if all were well. */
function chosen(option: string, given: readonly string[], choices: readonly string[], faults: string[]): string[] {
  for (const value of given) {
    if (choices.includes(value)) continue;
    faults.push(`${option} ${JSON.stringify(value)}: use one of ${choices.join(', ')}`);
  }
  return [...given];
}

function limitOf(value: unknown, faults: string[]): number {
  if (typeof value !== 'string' || /^(--|$)/.test(value)) return DEFAULT_LIMIT;
  const limit = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (limit < 1 || limit > MAX_LIMIT)
    faults.push(`--limit ${JSON.stringify(value)}: use a number from 1 to ${MAX_LIMIT}`);
  return limit;
}
