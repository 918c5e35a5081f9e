import { spawn } from 'node:child_process';

/**
 * Runs a program to its end.
 * @returns `{ code, stdout, output }`; `output` has both streams. The code of one that could not start, or that took
 *   longer than `timeoutMs`, is null.
 */
export function run(executable, args, { timeoutMs = 600_000, input, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(executable, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
    let stdout = '';
    let output = '';
    const end = (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, output });
    };
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => {
      output += error.message;
      end(null);
    });
    child.on('close', end);
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** @returns standard output */
export async function runOrThrow(executable, args, options) {
  const { code, stdout, output } = await run(executable, args, options);
  if (code !== 0) throw new Error(`${executable} ${args.join(' ')} ended with ${code}:\n${output.slice(-4000)}`);
  return stdout;
}
