import type { FastifyInstance, HTTPMethods } from 'fastify';

export interface AppRequest {
  method: string;
  /** With its query. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[]>>;
  body: Buffer | undefined;
}

export interface AppReply {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[]>>;
  body: Buffer;
}

/** Whatever answers requests. It rejects when it hangs up instead. */
export type Serve = (request: AppRequest) => Promise<AppReply>;

/** A fastify app that does not listen. @param authority the host that requests name */
export function serveBy(app: FastifyInstance, authority: string): Serve {
  return async ({ method, path, headers, body }) => {
    const answer = await app.inject({
      method: method as HTTPMethods,
      url: path,
      authority,
      headers: { ...headers },
      remoteAddress: '127.0.0.1',
      ...(body !== undefined && { payload: body }),
    });
    const kept = Object.entries(answer.headers).flatMap(([name, value]): [string, string | string[]][] =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.map(String) : String(value)]],
    );
    // Node takes this one from the real clock.
    const date = new Date().toUTCString();
    return { status: answer.statusCode, headers: { ...Object.fromEntries(kept), date }, body: answer.rawPayload };
  };
}
