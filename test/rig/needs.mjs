import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { machineName, rigCache } from './base-images.mjs';
import { run } from './run.mjs';

const PROGRAMS = [
  ...['ip', 'nsenter', 'unshare', 'setpriv', 'mount', 'dpkg', 'npm', 'curl', 'bash', 'getent'],
  ...['mkfs.ext4', 'fallocate'],
];
const POSTGRES = '/usr/lib/postgresql/15/bin/initdb';

/** What this machine lacks, a phrase each. */
export async function whatIsMissing() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return ['Linux on x86_64'];
  const missing = [];
  if (process.getuid?.() !== 0)
    missing.push(
      'root: network and mount namespaces, without which names and ports of the compose file would not hold',
    );
  for (const name of PROGRAMS)
    if ((await run('/bin/sh', ['-c', `command -v ${name}`])).code !== 0) missing.push(`the program ${name}`);
  if (!existsSync('/dev/loop-control')) missing.push('loop devices, for a disk that can be full');
  if (!existsSync(POSTGRES)) missing.push(`PostgreSQL 15 (${POSTGRES}; Debian: apt-get install postgresql-15)`);
  if (!existsSync(join(rigCache(), 'temporal-1.31.0')) || !existsSync(join(rigCache(), 'ui-2.49.1')))
    if ((await run('go', ['version'])).code !== 0) missing.push('Go, to build the server of Temporal');
  if (missing.length > 0) return missing;
  const probe = await run('unshare', [
    '--net',
    '--mount',
    '--pid',
    '--fork',
    '--',
    'mount',
    '-t',
    'tmpfs',
    'tmpfs',
    '/mnt',
  ]);
  return probe.code === 0 ? [] : [`namespaces: unshare says ${probe.output.trim()}`];
}

/** What is not as a container engine would have it. */
export async function whatDiffers() {
  const postgres = (await run(POSTGRES, ['--version'])).stdout.trim();
  return [
    `on ${machineName()}, kernel of this machine; ${postgres} where the image has 16`,
    'Alpine is Debian’s busybox; CPU limits are not set; names are found in /etc/hosts, also of containers that are down',
  ];
}
