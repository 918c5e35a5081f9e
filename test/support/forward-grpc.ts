import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
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
