import { type AddressInfo, createServer, type Server } from 'node:net';

/** A port of one of the stack's processes, and the setting that changes it. */
export interface PortSpec {
  name: string;
  setting: string;
  preferred: number;
  /** Address that it listens on, if not that of the others. */
  ip?: string;
}

export interface ChosenPort extends PortSpec {
  port: number;
  /** True if another process uses the preferred port, so that a free one is used instead. */
  replaced: boolean;
}

/** Chooses each preferred port, or a free one if it is taken or already chosen for an earlier entry. */
export async function choosePorts(specs: readonly PortSpec[], ip: string): Promise<ChosenPort[]> {
  const given = new Set<number>();
  const chosen: ChosenPort[] = [];
  for (const spec of specs) {
    const on = spec.ip ?? ip;
    let port = spec.preferred === 0 || given.has(spec.preferred) ? undefined : await tryPort(spec.preferred, on);
    const replaced = port === undefined && spec.preferred !== 0;
    while (port === undefined || given.has(port)) port = await tryPort(0, on);
    given.add(port);
    chosen.push({ ...spec, port, replaced });
  }
  return chosen;
}

/** A port that is free now. It is not reserved. */
export async function freePort(ip = '127.0.0.1'): Promise<number> {
  const port = await tryPort(0, ip);
  if (port === undefined) throw new Error(`No free port on ${ip}`);
  return port;
}

/** Makes an HTTP server listen on a free port of this machine alone. Returns its URL, without a path. */
export async function listenLocally(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the port if it can be listened on, or undefined if it is taken or not allowed. */
function tryPort(port: number, ip: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: ip, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}

/** Reads a port setting. Unset or empty means the default; anything but 0-65535 is refused. */
export function portSetting(env: NodeJS.ProcessEnv, setting: string, fallback: number): PortFault | number {
  const text = env[setting];
  if (text === undefined || text === '') return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535
    ? port
    : { fault: `${setting} is "${text}": a port is a whole number from 0 (any free port) to 65535.` };
}

export interface PortFault {
  fault: string;
}
