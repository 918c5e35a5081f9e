import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** A gRPC message begins with one byte that says whether it is compressed, and four with its length. */
const PREFIX_BYTES = 5;

/** The answer to a unary call. */
export interface Answer {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Absent when the headers were all there is. */
  trailers?: IncomingHttpHeaders;
}

/** A unary call that came to a server in front of another one. */
export interface Call {
  stream: ServerHttp2Stream;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The session to the server behind. */
  far: ClientHttp2Session;
}

/**
 * Lets a server listen in front of another one: each of its sessions has one to there, and both end together.
 * @param target `host:port` of the server behind
 * @param handle answers a call; if it rejects the call is cancelled
 */
export async function listenInFront(
  server: Http2Server | Http2SecureServer,
  target: string,
  handle: (call: Call) => Promise<void>,
): Promise<{ port: number; endSessions(): void }> {
  const upstreams = new WeakMap<object, ClientHttp2Session>();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (near) => {
    const far = connect(`http://${target}`);
    upstreams.set(near, far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sessions.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sessions.delete(one);
        other.destroy();
      });
    }
  });
  const take = async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> => {
    const body = await buffer(stream);
    const far = stream.session === undefined ? undefined : upstreams.get(stream.session);
    if (far === undefined) throw new Error('The caller is gone');
    await handle({ stream, headers, body, far });
  };
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => undefined);
    take(stream, headers).catch(() => stream.close(constants.NGHTTP2_CANCEL));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    endSessions() {
      for (const session of sessions) session.destroy();
    },
  };
}

/** Sends a call that came by `stream` on to another server. */
export function begin(
  far: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  body: Buffer,
): ClientHttp2Stream {
  const asked = far.request(headers);
  asked.on('error', () => undefined);
  stream.once('close', () => asked.close(constants.NGHTTP2_CANCEL));
  asked.end(body);
  return asked;
}

export async function ask(...call: Parameters<typeof begin>): Promise<Answer> {
  return await answerOf(begin(...call));
}

export async function answerOf(asked: ClientHttp2Stream): Promise<Answer> {
  const over = new Promise<never>((_resolve, reject) => {
    // Later than what came before the end: that may still be on its way to its reader.
    asked.once('close', () => setImmediate(() => reject(new Error('The call ended without an answer'))));
  });
  const answer = async (): Promise<Answer> => {
    const trailers = new Promise<IncomingHttpHeaders>((resolve) => asked.once('trailers', resolve));
    const [headers, flags] = (await once(asked, 'response')) as [IncomingHttpHeaders, number];
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) return { headers, body: Buffer.alloc(0) };
    return { headers, body: await buffer(asked), trailers: await trailers };
  };
  return await Promise.race([answer(), over]);
}

export function reply(stream: ServerHttp2Stream, { headers, body, trailers }: Answer): void {
  if (stream.destroyed || stream.closed) return;
  if (trailers === undefined) {
    stream.respond(headers, { endStream: true });
    return;
  }
  stream.respond(headers, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
}

/** @param body of a request or an answer */
export function messageIn(body: Buffer): Buffer {
  const message = body.subarray(PREFIX_BYTES);
  return body[0] === 1 ? gunzipSync(message) : message;
}
