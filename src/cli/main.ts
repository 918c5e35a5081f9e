import { runCommand } from './command.js';
import { writeTo } from './write-to.js';

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  print: writeTo(process.stdout),
  printError: writeTo(process.stderr),
});
