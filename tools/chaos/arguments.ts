import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ArgumentError } from '../stack/arguments.js';

export interface AttackArguments {
  /** When nothing further is asked for: after so many ms, or after so many flows. */
  until: { ms: number } | { count: number };
  /** What is asked for: charges alone, or every flow and command there is. */
  flows: Flows;
  /** Callers that ask at the same time. */
  concurrency: number;
  /** Of the plan of kills and cards. */
  seed: number;
  /** The service as it is documented, or by turns as every profile of the sandbox has it. */
  profiles: Profiles;
}

const PROFILES = ['default', 'all'] as const;
export type Profiles = (typeof PROFILES)[number];
const FLOWS = ['charge', 'mixed'] as const;
export type Flows = (typeof FLOWS)[number];

export const USAGE = [
  'npm run chaos -- --minutes 5        flows under a storm of faults and kills for 5 minutes (default 1, may be 0.2)',
  'npm run chaos -- --count 1000       until 1,000 flows have been asked for, instead of --minutes',
  '                  --flows charge     asks for charges alone (default mixed: every flow and command)',
  '                  --concurrency 16   so many callers at a time',
  '                  --seed 7           repeats the plan of kills and cards of an earlier attack',
  '                  --profiles default leaves out the hostile profiles of the service (default all)',
].join('\n');

const NUMBERS = ['minutes', 'count', 'concurrency', 'seed'] as const;
type NumberName = (typeof NUMBERS)[number];
const NAMES = [...NUMBERS, 'profiles', 'flows'] as const;
type Name = (typeof NAMES)[number];

const LONGEST_MINUTES = 24 * 60;
const MOST_FLOWS = 1_000_000;
const MOST_CALLERS = 256;
/** One more than the largest. */
export const SEEDS = 2 ** 32;

interface Rule {
  fits: (text: string) => boolean;
  rule: string;
}

const RULES: Readonly<Record<Name, Rule>> = {
  minutes: {
    fits: numberThat((value) => value > 0 && value <= LONGEST_MINUTES),
    rule: `give a number of minutes above 0 and at most ${LONGEST_MINUTES}, such as 5 or 0.2`,
  },
  count: { fits: wholeWithin(1, MOST_FLOWS), rule: `give a whole number from 1 to ${MOST_FLOWS}` },
  concurrency: { fits: wholeWithin(1, MOST_CALLERS), rule: `give a whole number from 1 to ${MOST_CALLERS}` },
  seed: { fits: wholeWithin(0, SEEDS - 1), rule: `give a whole number from 0 to ${SEEDS - 1}` },
  profiles: { fits: (text) => isOneOf(PROFILES, text), rule: `give one of ${PROFILES.join(', ')}` },
  flows: { fits: (text) => isOneOf(FLOWS, text), rule: `give one of ${FLOWS.join(', ')}` },
};

/** @throws ArgumentError with one sentence for every fault */
export function parseArguments(args: readonly string[]): AttackArguments {
  const { values, faults } = readValues(args);
  if (values.minutes !== undefined && values.count !== undefined) {
    faults.push('--minutes and --count both say when to end: give one of them.');
  }
  if (faults.length > 0) throw new ArgumentError(`${faults.join('\n')}\n${USAGE}`);
  const number = (name: NumberName, otherwise: number): number => Number(values[name] ?? otherwise);
  return {
    until: values.count === undefined ? { ms: number('minutes', 1) * 60_000 } : { count: Number(values.count) },
    flows: isOneOf(FLOWS, values.flows) ? values.flows : 'mixed',
    concurrency: number('concurrency', 16),
    seed: number('seed', randomInt(SEEDS)),
    profiles: isOneOf(PROFILES, values.profiles) ? values.profiles : 'all',
  };
}

function readValues(args: readonly string[]): { values: Partial<Record<Name, string>>; faults: string[] } {
  const values: Partial<Record<Name, string>> = {};
  const faults: string[] = [];
  // Not strict, which would throw at the first fault.
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: 'string' as const }]));
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') faults.push(`npm run chaos does not know "${token.value}".`);
    if (token.kind !== 'option') continue;
    const name = NAMES.find((known) => known === token.name);
    if (name === undefined) faults.push(`npm run chaos does not know ${token.rawName}.`);
    else if (values[name] !== undefined) faults.push(`--${name} is given twice.`);
    else if (token.value === undefined) faults.push(`--${name} has no value: ${RULES[name].rule}.`);
    else if (!RULES[name].fits(token.value)) {
      faults.push(`--${name} is "${token.value}": ${RULES[name].rule}.`);
    } else values[name] = token.value;
  }
  return { values, faults };
}

/** Decimals only: `Number` would take an empty text for 0, and "0x10" for 16. */
function numberThat(fits: (value: number) => boolean): (text: string) => boolean {
  return (text) => /^\d+(\.\d+)?$/.test(text) && fits(Number(text));
}

function wholeWithin(least: number, most: number): (text: string) => boolean {
  return numberThat((value) => Number.isInteger(value) && value >= least && value <= most);
}

function isOneOf<Value extends string>(values: readonly Value[], text: string | undefined): text is Value {
  return values.some((known) => known === text);
}
