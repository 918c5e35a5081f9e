import type { Plain } from './decode.js';

/** One value that the code would now send otherwise than the history recorded. */
export interface Difference {
  /** From the content of the command: `input[0].body.amount`. */
  path: string;
  expected: Plain | undefined;
  actual: Plain | undefined;
}

/** @returns every value that differs; empty if the two say the same */
export function differences(expected: Plain | undefined, actual: Plain | undefined, path = ''): Difference[] {
  if (Object.is(expected, actual)) return [];
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const longer = expected.length > actual.length ? expected : actual;
    return longer.flatMap((_, at) => differences(expected[at], actual[at], `${path}[${at}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => differences(expected[key], actual[key], path === '' ? key : `${path}.${key}`));
  }
  return [{ path, expected, actual }];
}

function isObject(value: Plain | undefined): value is { [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function sayDifference({ path, expected, actual }: Difference): string {
  return `${path}: recorded ${JSON.stringify(expected)}, now ${JSON.stringify(actual)}`;
}
