import { createServer } from 'node:http2';
import { ask, type Call, listenInFront, reply } from '../support/forward-grpc.js';

/** Stands between a program and its Temporal server, and can lose an update as a run does that ends just then. */
export interface EngineInFront {
  readonly address: string;
  loseNextUpdate(): void;
  close(): void;
}

/** gRPC status `NOT_FOUND`, in the words of the server. */
const LOST = { 'grpc-status': '5', 'grpc-message': 'update "ship-1" not found' };

/** @param target `host:port` of the server */
export async function openInFront(target: string): Promise<EngineInFront> {
  let loses = false;
  const server = createServer();
  const front = await listenInFront(server, target, async ({ stream, headers, body, far }: Call) => {
    if (!loses || headers[':path']?.endsWith('/UpdateWorkflowExecution') !== true) {
      reply(stream, await ask(far, stream, headers, body));
      return;
    }
    loses = false;
    const answer = { ':status': '200', 'content-type': 'application/grpc', ...LOST };
    reply(stream, { headers: answer, body: Buffer.alloc(0) });
  });
  return {
    address: `127.0.0.1:${front.port}`,
    loseNextUpdate: () => void (loses = true),
    close() {
      server.close();
      front.endSessions();
    },
  };
}
