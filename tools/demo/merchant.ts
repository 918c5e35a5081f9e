import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A notification of a subscription to the merchant. */
interface Told {
  id: string;
  type: string;
}

/** The merchant's endpoint for notifications. It accepts only signed ones and counts the others. */
export interface Merchant {
  url: string;
  /** Each notification once, in order of arrival. */
  told: readonly Told[];
  /** Number of requests that were refused for a wrong signature. */
  readonly refused: number;
  close(): void;
}

export async function openMerchant(secret: string): Promise<Merchant> {
  const told: Told[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      if (!isSigned(body, String(request.headers['holdfast-signature']), secret)) {
        refused += 1;
        response.writeHead(401).end();
        return;
      }
      const { id, type } = JSON.parse(body) as Told;
      // Delivery is at least once: a repeated notification is accepted but counted once.
      if (!told.some((one) => one.id === id)) told.push({ id, type });
      response.writeHead(204).end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/subscriptions`,
    told,
    get refused() {
      return refused;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function isSigned(body: string, header: string, secret: string): boolean {
  const [, at = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', secret).update(`${at}.${body}`).digest();
  return signature !== '' && timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
