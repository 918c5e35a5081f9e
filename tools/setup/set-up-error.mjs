/** Set-up can't go on. Its message is written for the person at the terminal and is shown without a stack. */
export class SetUpError extends Error {
  name = 'SetUpError';
}

/** Ends the process with exit code 1, the reason being the last thing printed. */
export function exitWithReason(error) {
  process.stderr.write(`\n${error instanceof SetUpError ? error.message : (error?.stack ?? String(error))}\n`);
  process.exit(1);
}
