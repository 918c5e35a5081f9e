import { EventEmitter, once } from 'node:events';
import { type ClientHttp2Stream, constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { CrashStops } from './crash-stops.js';
import { type Answer, answerOf, ask, begin, type Call, listenInFront, messageIn, reply } from './forward-grpc.js';

/** Calls by which a worker writes to a history. Their task token holds the workflow id in plain text. */
const WRITES = new Set([
  'RespondWorkflowTaskCompleted',
  'RespondWorkflowTaskFailed',
  'RespondActivityTaskCompleted',
  'RespondActivityTaskFailed',
]);
const POLL = 'PollWorkflowTaskQueue';
/** Stands between a worker and its Temporal server, knows unary calls only, and loses what the server's death loses. */
export interface EngineProxy {
  readonly address: string;
  /** From here on no workflow task is fetched: tasks stay scheduled, those under way go on. */
  pausePolls(): Promise<void>;
  resumePolls(): void;
  close(): void;
}

/** @param target `host:port` of the server, which may come and go */
export async function openEngineProxy(target: string, stops: CrashStops): Promise<EngineProxy> {
  const polls = new Polls();
  const server = createServer();
  const front = await listenInFront(server, target, handle);

  async function handle({ stream, headers, body, far }: Call): Promise<void> {
    const call = headers[':path']?.split('/').at(-1) ?? '';
    const forward = () => ask(far, stream, headers, body);
    const reference = WRITES.has(call) ? stops.referenceIn(messageIn(body)) : undefined;
    const answer =
      call === POLL
        ? await polls.poll(stream, () => begin(far, stream, headers, body))
        : await (reference === undefined ? forward() : stops.pass(reference, call, forward));
    if (answer === undefined) stream.close(constants.NGHTTP2_CANCEL);
    else reply(stream, answer);
  }

  return {
    address: `127.0.0.1:${front.port}`,
    pausePolls: () => polls.pause(),
    resumePolls: () => polls.resume(),
    close() {
      server.close();
      front.endSessions();
    },
  };
}

/** Polls that can be taken back from the server without their caller noticing. */
class Polls {
  readonly #open = new Set<ClientHttp2Stream>();
  readonly #changed = new EventEmitter().setMaxListeners(0);
  #paused = false;

  async poll(stream: ServerHttp2Stream, begin: () => ClientHttp2Stream): Promise<Answer> {
    for (;;) {
      while (this.#paused) await once(this.#changed, 'resumed');
      if (stream.destroyed) throw new Error('The caller is gone');
      const asked = begin();
      this.#open.add(asked);
      try {
        return await answerOf(asked);
      } catch (error) {
        if (!this.#paused) throw error;
      } finally {
        this.#open.delete(asked);
      }
    }
  }

  async pause(): Promise<void> {
    this.#paused = true;
    const sessions = new Set([...this.#open].map(({ session }) => session));
    for (const asked of this.#open) asked.close(constants.NGHTTP2_CANCEL);
    // A server handles what a connection brings in its order: once it answers this, it knows of the cancelling.
    await Promise.all([...sessions].map((session) => new Promise((resolve) => session?.ping(resolve))));
  }

  resume(): void {
    this.#paused = false;
    this.#changed.emit('resumed');
  }
}
