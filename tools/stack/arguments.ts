import { Command, CommanderError } from 'commander';

export interface StartArguments {
  demo: boolean;
  /** Exit after the demo, with code 0 or 1. */
  exit: boolean;
}

/** The command line is wrong. The message names the errors and the valid options. */
class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** @throws ArgumentError */
export function parseArguments(args: readonly string[]): StartArguments {
  const command = new Command('npm start --')
    .description('Boots everything, runs the guided demo, and serves until Ctrl-C.')
    .option('--no-demo', 'only boots; prints a line "ready" once everything serves')
    .option('--exit', 'leaves after the demo: 0 when every flow ended as it should, else 1 with the reason');
  return { exit: false, ...readOptions<{ demo: boolean; exit?: true }>(command, args) };
}

/**
 * Reads the options of a command without arguments. Option parsers add invalid values to `faults`.
 * @throws ArgumentError that names every invalid value, and the first error of another kind
 */
export function readOptions<Options extends object>(
  command: Command,
  args: readonly string[],
  faults: string[] = [],
): Options {
  command
    .exitOverride((end) => {
      if (end.exitCode === 0) process.exit(0);
      throw end;
    })
    .configureOutput({ writeErr: () => {} })
    .allowExcessArguments();
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    faults.push(error.message.replace('error: ', ''));
  }
  if (faults.length === 0) faults.push(...command.args.map((word) => `unknown argument '${word}'`));
  if (faults.length > 0) throw new ArgumentError(`${faults.join('\n')}\n\n${command.helpInformation()}`);
  return command.opts<Options>();
}
