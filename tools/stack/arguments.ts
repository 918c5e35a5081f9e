export interface StartArguments {
  demo: boolean;
  /** Leave when the demo is over, with 0 or 1. */
  exit: boolean;
}

export const USAGE = [
  'npm start                 boots everything, runs the guided demo, and serves until Ctrl-C',
  'npm start -- --no-demo    only boots; prints a line "ready" once everything serves',
  'npm start -- --exit       leaves after the demo: 0 when every flow ended as it should, else 1 with the reason',
].join('\n');

/** A flag that `npm start` does not know. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** @throws ArgumentError that names every unknown flag */
export function parseArguments(args: readonly string[]): StartArguments {
  const unknown = args.filter((arg) => arg !== '--no-demo' && arg !== '--exit');
  if (unknown.length > 0) throw new ArgumentError(`npm start does not know ${unknown.join(', ')}.\n${USAGE}`);
  return { demo: !args.includes('--no-demo'), exit: args.includes('--exit') };
}
