import { describe, expect, test } from 'vitest';
import { ABOUT, CHECKOUT, OWN, PORT, TestConsole } from './parts.js';

/** What is refused leaves nothing behind, so all share it. */
const at = new TestConsole();

describe('requests that a page of another site can make a browser send', () => {
  const json = { 'content-type': 'application/json' };
  const posted = { host: `127.0.0.1:${PORT}`, origin: OWN, ...json };
  test.each<[what: string, method: 'GET' | 'POST' | 'DELETE', url: string, headers: Record<string, string>]>([
    ['a name that resolves to this machine', 'GET', '/api/overview', { host: `rebound.example:${PORT}` }],
    ['such a name, for the page itself', 'GET', '/', { host: `rebound.example:${PORT}` }],
    ['a name that begins as ours', 'GET', '/', { host: `127.0.0.1.rebound.example:${PORT}` }],
    ['another port', 'GET', '/', { host: '127.0.0.1:4010' }],
    ['another origin', 'POST', '/api/checkout', { ...posted, origin: 'https://elsewhere.example' }],
    ['another port of this machine', 'POST', '/api/checkout', { ...posted, origin: 'http://127.0.0.1:3000' }],
    ['our name under https', 'POST', '/api/checkout', { ...posted, origin: `https://127.0.0.1:${PORT}` }],
    ['another of our names', 'POST', '/api/checkout', { ...posted, origin: `http://localhost:${PORT}` }],
    ['a page without an origin', 'POST', '/api/checkout', { ...posted, origin: 'null' }],
    ['no origin', 'POST', '/api/checkout', { host: posted.host, ...json }],
    ['no origin, to remove', 'DELETE', '/api/faults/1', { host: posted.host }],
    ['another origin that reads', 'GET', '/api/overview', { host: posted.host, origin: 'https://elsewhere.example' }],
    ['another site, by its metadata', 'GET', '/api/overview', { host: posted.host, 'sec-fetch-site': 'same-site' }],
    ['a form', 'POST', '/api/checkout', { ...posted, 'content-type': 'application/x-www-form-urlencoded' }],
    ['a form of text', 'POST', '/api/checkout', { ...posted, 'content-type': 'text/plain' }],
    ['no content type', 'POST', '/api/deliveries/1/resend', { host: posted.host, origin: OWN }],
  ])('are refused: %s', async (_what, method, url, headers) => {
    const payload = headers['content-type'] === undefined ? {} : { payload: JSON.stringify(CHECKOUT) };
    const answer = await at.server.inject({ method, url, headers, ...payload });
    expect(answer.statusCode).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(at.holdfast.moneyMoved('shop-1')).toBe(0);
    expect(at.sandbox.calls).toEqual([]);
  });

  test.each([`127.0.0.1:${PORT}`, `localhost:${PORT}`, `[::1]:${PORT}`])('are served under %s', async (host) => {
    const page = await at.server.inject({ url: '/', headers: { host, 'sec-fetch-site': 'cross-site' } });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const headers = { host, origin: `http://${host}`, ...json };
    const paid = await at.server.inject({ method: 'POST', url: '/api/checkout', headers, payload: CHECKOUT });
    expect(paid.statusCode).toBe(200);
  });
});

describe('the page', () => {
  test('may load nothing from elsewhere, and call only the sandbox', async () => {
    const { headers } = await at.server.inject({ url: '/', headers: { host: `127.0.0.1:${PORT}` } });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`connect-src 'self' ${ABOUT.sandboxUrl};`);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  test('serves its own files and no other', async () => {
    const get = async (url: string) =>
      (await at.server.inject({ url, headers: { host: `127.0.0.1:${PORT}` } })).statusCode;
    for (const url of ['/main.js', '/console.css', '/icon.svg']) expect(await get(url)).toBe(200);
    for (const url of ['/tsconfig.json', '/../server.ts', '/%2e%2e/server.ts', '/package.json', '/index.html']) {
      expect(await get(url)).toBe(404);
    }
  });
});
