import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** What runs in the container's network: passes connections on to its loopback. */
const INSIDE = `
  import { connect, createServer } from 'node:net';
  const [address, port] = process.argv.slice(1);
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    from.pipe(to).pipe(from);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
  });
  server.listen(0, address, () => console.log(server.address().port));`;

/**
 * A port of this machine's loopback that leads to one that a container serves on its own loopback alone.
 * @returns `{ port, close }`
 */
export async function onLoopback({ end }, port) {
  const inNetwork = ['--pdeathsig', 'KILL', 'nsenter', `--net=/run/netns/${end.namespace}`];
  const program = [process.execPath, '--input-type=module', '-e', INSIDE, end.address, String(port)];
  const child = spawn('/usr/bin/setpriv', [...inNetwork, ...program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [inside] = await once(child.stdout, 'data');
  const server = createServer((from) => {
    const to = connect(Number(inside), end.address);
    from.pipe(to).pipe(from);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    close() {
      server.close();
      child.kill('SIGKILL');
    },
  };
}
