import { randomUUID } from 'node:crypto';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { headersOf } from '../../tools/stack/profile-units.js';
import type { TestStack } from './stack.js';

/** The payment service as somebody else with the same credentials uses it, a back office say. */
export function serviceOf({ sandboxUrl }: Pick<TestStack, 'sandboxUrl'>) {
  return {
    async post(path: string, body: object = {}, key: string = randomUUID()): Promise<{ id: string }> {
      const headers = { ...headersOf(DEFAULT_UNIT), 'idempotency-key': key };
      const answer = await fetch(new URL(path, sandboxUrl), { method: 'POST', headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { id: string };
    },
  };
}
