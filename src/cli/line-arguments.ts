import type { Command } from 'commander';

/** Commands that ask for a flow for each line of a file. */
export type LinesRequest =
  | { command: 'redrive'; json: boolean; file: string; rate: number; statement?: string; report?: string }
  | { command: 'subscriptions import'; json: boolean; file: string; rate: number; report?: string };

interface Parsing {
  text: (option: string) => (value: string) => string;
  wholeOf: (option: string, least: number, most: number) => (value: string) => number;
  json: () => boolean;
  ask: (request: LinesRequest) => void;
}

const DEFAULT_RATE = 5;
const MAX_RATE = 1_000;

/** @returns the group of commands to many subscriptions */
export function addLineCommands(program: Command, { text, wholeOf, json, ask }: Parsing): Command {
  const withLines = (command: Command): Command =>
    command
      .option('--rate <number>', 'at most so many a second', wholeOf('--rate', 1, MAX_RATE), DEFAULT_RATE)
      .option('--report <file>', 'what became of each line (default: <file>.report.jsonl)', text('--report'));

  withLines(program.command('redrive <file>'))
    .description('after a restore from a backup: asks again for flows that may have been lost, from your own orders')
    .option('--statement <file>', "the payment service's statement of the lost time", text('--statement'))
    .action((file: string, given: { rate: number; statement?: string; report?: string }) =>
      ask({ command: 'redrive', json: json(), file, ...given }),
    );

  const subscriptions = program.command('subscriptions').description('many subscriptions at once');
  withLines(subscriptions.command('import <file>'))
    .description('starts the subscriptions of a file, such as those of another system, one on each line')
    .action((file: string, given: { rate: number; report?: string }) =>
      ask({ command: 'subscriptions import', json: json(), file, ...given }),
    );
  return subscriptions;
}
