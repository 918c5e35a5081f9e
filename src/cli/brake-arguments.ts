import type { Command } from 'commander';
import { brakeSchema, type BrakeRequest, type ReleaseRequest, releaseSchema } from '../contract/brakes.js';
import { faultsOf } from '../contract/fields.js';

export type BrakesRequest =
  | { command: 'brake'; json: boolean; request: BrakeRequest }
  | { command: 'release'; json: boolean; request: ReleaseRequest }
  | { command: 'brakes'; json: boolean };

interface Parsing {
  json: () => boolean;
  instantOf: (option: string) => (value: string) => Date;
  faults: string[];
  ask: (request: BrakesRequest) => void;
}

interface Given {
  who: string;
  why: string;
  since?: Date;
  captures?: true;
  refunds?: true;
}

export function addBrakeCommands(program: Command, { json, instantOf, faults, ask }: Parsing): void {
  const withPerson = (command: Command): Command =>
    command.requiredOption('--who <name>', 'who decides it').requiredOption('--why <text>', 'for what reason');

  withPerson(program.command('brake <unit>'))
    .description('stops new payments, authorizations, charges, credits and bills of a business unit')
    .option('--captures', 'stops captures too, but none at the deadline of a hold')
    .option('--refunds', 'stops refunds too')
    .action((businessUnit: string, given: Given) => {
      const { data, error } = brakeSchema.safeParse({ businessUnit, ...given });
      if (error !== undefined) faults.push(...faultsOf(error));
      else ask({ command: 'brake', json: json(), request: data });
    });
  withPerson(program.command('release <unit>'))
    .description('lets a braked business unit go on')
    .option(
      '--since <instant>',
      'when it was last braked; without it that is shown, and nothing is released: exit code 1',
      instantOf('--since'),
    )
    .action((businessUnit: string, { since, ...given }: Given) => {
      const named = { businessUnit, ...given, ...(since !== undefined && { since: since.toISOString() }) };
      const { data, error } = releaseSchema.safeParse(named);
      if (error !== undefined) faults.push(...faultsOf(error));
      else ask({ command: 'release', json: json(), request: data });
    });
  program
    .command('brakes')
    .description('which business units are braked, and the last changes, without a worker')
    .action(() => ask({ command: 'brakes', json: json() }));
}
