import type { Command } from 'commander';
import { bulkInputSchema, type BulkInput } from '../contract/bulk.js';
import { faultsOf } from '../contract/fields.js';
import { readText } from './line-file.js';

export type BulkRequest =
  | { command: 'subscriptions bulk'; json: boolean; input: BulkInput; dryRun: boolean }
  | {
      command: 'subscriptions bulk status' | 'subscriptions bulk results' | 'subscriptions bulk stop';
      json: boolean;
      name: string;
    };

interface Parsing {
  wholeOf: (option: string, least: number, most: number) => (value: string) => number;
  json: () => boolean;
  faults: string[];
  ask: (request: BulkRequest) => void;
}

interface Given {
  unit: string;
  query?: string;
  rate: number;
  name: string;
  who: string;
  why: string;
  dryRun?: true;
}

const DEFAULT_RATE = 5;
const MAX_RATE = 100;

/** One command to many subscriptions. Every fault is said before anything is started. */
export function addBulkCommands(subscriptions: Command, { wholeOf, json, faults, ask }: Parsing): void {
  const bulk = subscriptions.command('bulk').description('one command to many subscriptions');
  const add = (usage: string, description: string): Command =>
    bulk
      .command(usage)
      .description(description)
      .requiredOption('--unit <name>', 'of the open subscriptions of this business unit')
      .option('--query <query>', "those that this matches, in the words of Temporal's visibility")
      .option('--rate <number>', 'at most so many a second', wholeOf('--rate', 1, MAX_RATE), DEFAULT_RATE)
      .requiredOption('--name <name>', 'of this bulk: given again with the same words it goes on')
      .requiredOption('--who <name>', 'who decides it')
      .requiredOption('--why <text>', 'for what reason')
      .option('--dry-run', 'only counts those that match');
  const start = (
    { unit, dryRun, query, rate, name, who, why }: Given,
    action: object,
    lines: readonly number[] = [],
  ) => {
    const input = { name, businessUnit: unit, action, ...(query !== undefined && { query }), rate, who, why };
    const { data, error } = bulkInputSchema.safeParse(input);
    if (data !== undefined) ask({ command: 'subscriptions bulk', json: json(), input: data, dryRun: dryRun === true });
    else faults.push(...faultsOf(error).map((fault) => byLine(fault, lines)));
  };

  add('pause', 'sends no bill of them until they are resumed')
    .option('--open-period <what>', 'hold (default) or drop a past-due period')
    .option('--until <instant>', 'resumes by itself then')
    .action(({ openPeriod, until, ...given }: Given & { openPeriod?: string; until?: string }) =>
      start(given, { do: 'pause', ...defined({ openPeriod, until }) }),
    );
  add('resume', 'lets them bill again')
    .option('--missed-periods <what>', 'skip (default), billLatest or billAll of what came due meanwhile')
    .action(({ missedPeriods, ...given }: Given & { missedPeriods?: string }) =>
      start(given, { do: 'resume', ...defined({ missedPeriods }) }),
    );
  add('cancel', 'ends them')
    .requiredOption('--when <when>', 'now, periodEnd, or undo of the latter')
    .action(({ when, ...given }: Given & { when: string }) => start(given, { do: 'cancel', when }));
  add('move', 'moves them to the build that gets new work').action((given: Given) => start(given, { do: 'moveOn' }));
  add('change-card <file>', 'gives them other cards, by lines of JSON: {"from":"<token>","to":"<token>"}').action(
    (file: string, given: Given) => {
      const { cards, lines, wrong } = cardsOf(readText(file));
      faults.push(...wrong);
      if (wrong.length === 0) start(given, { do: 'changeCard', cards }, lines);
    },
  );

  const named = (verb: 'status' | 'results' | 'stop', description: string): void =>
    void bulk
      .command(`${verb} <name>`)
      .description(description)
      .action((name: string) => ask({ command: `subscriptions bulk ${verb}`, json: json(), name }));
  named('status', 'how far a bulk has come');
  named('results', 'what has become of each subscription, as lines of JSON');
  named('stop', 'ends a bulk after those that are under way; started again it goes on');
}

function defined(values: Readonly<Record<string, string | undefined>>): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function cardsOf(text: string): { cards: unknown[]; lines: number[]; wrong: string[] } {
  const cards: unknown[] = [];
  const lines: number[] = [];
  const wrong: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      cards.push(JSON.parse(line));
      lines.push(index + 1);
    } catch {
      wrong.push(`line ${index + 1}: is no JSON`);
    }
  }
  return { cards, lines, wrong };
}

/** A fault of a card names the line of the file. */
function byLine(fault: string, lines: readonly number[]): string {
  return fault
    .replace(/^action\.cards\.(\d+)\.?/, (_whole, at: string) => `line ${lines[Number(at)]}: `)
    .replace(/\bat (\d+)\b/, (_whole, at: string) => `in line ${lines[Number(at)]}`)
    .replace(/^businessUnit:/, '--unit:')
    .replace(/^(name|query|rate|who|why):/, '--$1:');
}
