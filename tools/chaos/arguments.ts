import { randomInt } from 'node:crypto';
import { Command, Option } from 'commander';
import { readOptions } from '../stack/arguments.js';
import { PROFILES, type Profiles } from '../stack/profile-units.js';
import { FLOWS, type Flows } from './scenarios/scenarios.js';

export interface ChaosArguments {
  /** The load stops after this many ms, or after this many flows. */
  until: { ms: number } | { count: number };
  /** Charges only, or every flow and command. */
  flows: Flows;
  /** Number of concurrent callers. */
  concurrency: number;
  /** Seed of the kill plan and of the cards used. */
  seed: number;
  /** Only the documented service, or all profiles of the sandbox by turns. */
  profiles: Profiles;
}

const LONGEST_MINUTES = 24 * 60;
const MOST_FLOWS = 1_000_000;
const MOST_CALLERS = 256;
/** One more than the largest seed. */
const SEEDS = 2 ** 32;

interface Given {
  minutes?: number;
  count?: number;
  flows?: Flows;
  concurrency?: number;
  seed?: number;
  profiles?: Profiles;
}

/** @throws ArgumentError that names every invalid value, and the first error of another kind */
export function parseArguments(args: readonly string[]): ChaosArguments {
  const faults: string[] = [];
  const option = <Value>(flags: string, description: string, rule: string, read: (text: string) => Value | undefined) =>
    new Option(flags, description).argParser((text: string, earlier: Value | undefined) => {
      const [name] = flags.split(' ');
      const value = read(text);
      if (earlier !== undefined) faults.push(`${name} is given twice.`);
      if (value === undefined) faults.push(`${name} is "${text}": give ${rule}.`);
      return value;
    });
  const whole = (flags: string, description: string, least: number, most: number) =>
    option(flags, description, `a whole number from ${least} to ${most}`, (text) =>
      numberThat(text, (value) => Number.isInteger(value) && value >= least && value <= most),
    );
  const oneOf = <Value extends string>(flags: string, description: string, values: readonly Value[]) =>
    option(flags, description, `one of ${values.join(', ')}`, (text) => values.find((known) => known === text));
  const minutesRule = `a number of minutes above 0 and at most ${LONGEST_MINUTES}, such as 5 or 0.2`;
  const minutesOf = (text: string) => numberThat(text, (value) => value > 0 && value <= LONGEST_MINUTES);

  const command = new Command('npm run chaos --')
    .description('Flows under faults and kills.')
    .addOption(option('--minutes <number>', 'for so long (default 1, may be 0.2)', minutesRule, minutesOf))
    .addOption(whole('--count <number>', 'until so many flows have been asked for', 1, MOST_FLOWS).conflicts('minutes'))
    .addOption(oneOf('--flows <kind>', 'charge, or mixed: every flow and command (default mixed)', FLOWS))
    .addOption(whole('--concurrency <number>', 'so many callers at a time (default 16)', 1, MOST_CALLERS))
    .addOption(whole('--seed <number>', 'repeats the plan of kills and cards of an earlier run', 0, SEEDS - 1))
    .addOption(oneOf('--profiles <which>', 'of the service: all, or default: no hostile ones (default all)', PROFILES));
  const given = readOptions<Given>(command, args, faults);
  const { minutes = 1, count, flows = 'mixed', concurrency = 16, seed = randomInt(SEEDS), profiles = 'all' } = given;
  return { until: count === undefined ? { ms: minutes * 60_000 } : { count }, flows, concurrency, seed, profiles };
}

/** Accepts decimals only: `Number` reads an empty text as 0 and "0x10" as 16. */
function numberThat(text: string, fits: (value: number) => boolean): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) && fits(Number(text)) ? Number(text) : undefined;
}
