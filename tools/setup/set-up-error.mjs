/** Set-up can't continue. The message is for the user and is printed without a stack trace. */
export class SetUpError extends Error {
  name = 'SetUpError';
}

/** Prints the reason and exits with code 1. */
export function exitWithReason(error) {
  process.stderr.write(`\n${error instanceof SetUpError ? error.message : (error?.stack ?? String(error))}\n`);
  process.exit(1);
}
