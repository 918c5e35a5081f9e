import { runCommand } from './command.js';

/** A reader that closes the pipe early (`| head`) is not a fault. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
});
