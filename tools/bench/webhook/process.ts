import { spawn } from 'node:child_process';

/** A process of the benchmark; answers once it serves. */
export function startProcess(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const url = /^ready \S+ (\S+)$/m.exec(out)?.[1];
      if (url !== undefined) resolve({ url, stop: () => void child.kill('SIGKILL') });
    });
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
}
