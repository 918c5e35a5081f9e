import { parseArgs } from 'node:util';

/** Parses whole positive numbers from the command line, by the given names and defaults. */
export function numbersOf<Name extends string>(defaults: Readonly<Record<Name, number>>): Record<Name, number> {
  const names = Object.keys(defaults) as Name[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options });
  const faults: string[] = [];
  const numbers = names.map((name) => {
    const given = values[name];
    const number = given === undefined ? defaults[name] : Number(given);
    if (!Number.isSafeInteger(number) || number < 1)
      faults.push(`--${name} ${String(given)} is not a whole number from 1`);
    return [name, number] as const;
  });
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exit(1);
  }
  return Object.fromEntries(numbers) as Record<Name, number>;
}
