import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut and mended without harm to the server, which other tests use as well. */
export interface Link {
  readonly address: string;
  cut(): void;
  mend(): Promise<void>;
}

/** @param target `host:port` */
export async function openLink(target: string): Promise<Link> {
  const [host, port] = target.split(':');
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let ownPort = 0;

  const open = async (): Promise<void> => {
    server = createServer((near) => {
      const far = connect(Number(port), host);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.on('error', () => to.destroy());
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    });
    server.listen(ownPort, '127.0.0.1');
    await once(server, 'listening');
    ownPort = (server.address() as AddressInfo).port;
  };

  await open();
  return {
    address: `127.0.0.1:${ownPort}`,
    cut() {
      server?.close();
      for (const socket of sockets) socket.destroy();
    },
    mend: open,
  };
}
