import { request } from 'node:http';
import { testInfo } from './test-info.js';

/** Asks the run's main process for what all test processes share: see `run-services.mjs`. */
export async function askRun<Answer>(
  path: '/temporal' | '/namespace' | '/stack',
  options: object = {},
): Promise<Answer> {
  const { socket } = testInfo();
  const { ok, text } = await new Promise<{ ok: boolean; text: string }>((resolve, reject) => {
    // No agent: a connection that is kept would outlive the test file that asks.
    const asked = request({ socketPath: socket, path, method: 'POST', agent: false }, (response) => {
      let read = '';
      response.setEncoding('utf8').on('data', (part: string) => (read += part));
      response.once('end', () => resolve({ ok: response.statusCode === 200, text: read }));
    });
    asked.once('error', reject);
    asked.end(JSON.stringify(options));
  });
  if (!ok) throw new Error(`The run could not provide ${path}: ${(JSON.parse(text) as { error: string }).error}`);
  return JSON.parse(text) as Answer;
}
