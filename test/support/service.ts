import { randomUUID } from 'node:crypto';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import type { TestStack } from './stack.js';

/** The payment service as somebody else with the same credentials uses it, a back office say. */
export function serviceOf({ sandboxUrl }: Pick<TestStack, 'sandboxUrl'>) {
  const headers = {
    'content-type': 'application/json',
    'app-id': DEFAULT_UNIT.appId,
    'private-key': DEFAULT_UNIT.privateKey,
    'x-svc-env': 'test',
    'api-version': '1.3.0',
  };
  return {
    async post(path: string, body: object = {}, key: string = randomUUID()): Promise<{ id: string }> {
      const keyed = { ...headers, 'idempotency-key': key };
      const answer = await fetch(new URL(path, sandboxUrl), {
        method: 'POST',
        headers: keyed,
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { id: string };
    },
  };
}
