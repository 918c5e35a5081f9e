import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Pool } from 'undici';
import { DEFAULT_UNIT, SandboxControl } from '../../../sandbox/control.js';
import { startSandbox } from '../../../sandbox/server.js';
import { headersOf } from '../../stack/profile-units.js';
import { CARD } from './payments.js';

export type Call = (method: 'GET' | 'POST', path: string, body?: object) => Promise<{ id: string; token: string }>;

export const CARD_BODY = { token_type: 'credit_card', holder_name: 'Ada', card_number: CARD };

/** Calls the sandbox as a merchant, and for tokens as a browser. A call throws if its answer is a refusal. */
export function callerOf(pool: Pool): Call {
  const merchant = headersOf(DEFAULT_UNIT);
  const browser = { ...merchant, 'public-key': DEFAULT_UNIT.publicKey };
  return async (method, path, body) => {
    const headers = {
      ...(path === '/tokens' ? browser : merchant),
      ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
    };
    const answer = await pool.request({
      method,
      path,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const made = (await answer.body.json()) as { id: string; token: string };
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(made)}`);
    return made;
  };
}

/**
 * Starts a sandbox in this process, and `file` once more in another one, where the same call generates the load. Then
 * prints the memory of this one.
 * @param generate runs in the other process, with the arguments of this one
 */
export async function measureSandbox<Measured>(
  file: string,
  generate: (url: string) => Promise<Measured>,
  show: (measured: Measured) => void,
  webhookUrl?: string,
): Promise<void> {
  if (process.send !== undefined) {
    process.once('message', (url) => {
      void generate(String(url)).then((measured) => process.send?.(measured, () => process.exit(0)));
    });
    return;
  }
  const stateDir = mkdtempSync(join(tmpdir(), 'sandbox-bench-'));
  const sandbox = await startSandbox({ stateDir, ...(webhookUrl !== undefined && { webhookUrl }) });
  try {
    const child = fork(fileURLToPath(file), process.argv.slice(2));
    const measured = await new Promise<Measured>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Measured));
      child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
      child.send(sandbox.url);
    });
    const { payments, transactions } = await new SandboxControl(sandbox.url).health();
    show(measured);
    const megabytes = Math.round(process.memoryUsage().rss / 1_048_576);
    console.log(`memory with ${payments} payments and ${transactions} transactions: ${megabytes} MB`);
  } finally {
    await sandbox.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}
