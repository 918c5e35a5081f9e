import { spawn } from 'node:child_process';

/**
 * Runs a command to its end and collects its output.
 * If `show` is set, the output also goes to stderr while the command runs, so that stdout stays free for results.
 */
export function runCommand(command, args, { cwd, env = process.env, show = false, timeoutMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let timedOut = false;
    const timer = timeoutMs
      ? setTimeout(() => {
          timedOut = true;
          child.kill('SIGKILL');
        }, timeoutMs)
      : undefined;
    const take = (chunk) => {
      output += chunk;
      if (show) process.stderr.write(chunk);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ ok: false, code: undefined, output: `${output}${error.message}` });
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const reason = timedOut ? `\nstopped after ${timeoutMs} ms` : signal ? `\nended by ${signal}` : '';
      resolve({ ok: code === 0 && !timedOut, code: code ?? undefined, output: output + reason });
    });
  });
}

/** The last non-empty lines of a command's output, enough to show why it failed. */
export function lastLines(output, count = 3) {
  return output
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-count)
    .join('\n');
}
