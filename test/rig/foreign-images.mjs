import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { alpine, cached, debian, layOutRoot } from './base-images.mjs';
import { runOrThrow } from './run.mjs';
import { cacheDir } from '../../tools/setup/paths.mjs';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const here = import.meta.dirname;

/**
 * For each image of others: which files it holds, by the Dockerfile of these tags. Another tag asks for a look there
 * first, since files come and go: up to 1.29 the server's image had a file of dynamic configuration.
 */
const IMAGES = {
  // docker-library/postgres 16/bookworm: Debian, the server's programs, docker-entrypoint.sh, STOPSIGNAL SIGINT.
  postgres: { tags: ['16.11'], make: postgres },
  // temporalio/temporal docker/targets/server.Dockerfile: Alpine, temporal-server, /etc/temporal/entrypoint.sh.
  'temporalio/server': { tags: ['1.31.0'], make: temporalServer },
  // temporalio/temporal docker/targets/admin-tools.Dockerfile: Alpine, temporal, the tools, /etc/temporal/schema.
  'temporalio/admin-tools': { tags: ['1.31.0'], make: adminTools },
  // temporalio/ui-server Dockerfile: Alpine with bash and curl, ui-server, config/docker.yaml, start-ui-server.sh.
  'temporalio/ui': { tags: ['2.49.1'], make: temporalUi },
};

/** @param name such as `postgres:16.11` */
export async function foreignImage(name) {
  const [repository, tag] = name.split(':');
  const known = IMAGES[repository];
  if (known === undefined || !known.tags.includes(tag)) {
    const tags = known === undefined ? 'no tag' : known.tags.join(', ');
    throw new Error(
      `the rig knows which files ${repository} holds at ${tags}, and not at ${tag}: look at its Dockerfile, and name the tag in test/rig/foreign-images.mjs`,
    );
  }
  return await known.make(tag);
}

/** Debian has 15 where the image has 16. */
const POSTGRES = '/usr/lib/postgresql/15';

async function postgres() {
  const shares = ['/usr/share/postgresql/15', '/usr/share/zoneinfo', '/usr/lib/locale'];
  return {
    layOut(root) {
      layOutRoot(root, { postgres: 999 });
      mkdirSync(join(root, 'run/postgresql'), { recursive: true });
      place(root, 'usr/local/bin/docker-entrypoint.sh', join(here, 'postgres-entrypoint.sh'));
    },
    binds: [...(await debian()), ...[POSTGRES, ...shares].map((path) => ({ source: path, target: path }))],
    env: { PATH: `${PATH}:${POSTGRES}/bin`, PGDATA: '/var/lib/postgresql/data', LANG: 'C.UTF-8' },
    home: '/var/lib/postgresql',
    entrypoint: ['docker-entrypoint.sh'],
    command: ['postgres'],
    stopSignal: 'SIGINT',
    volumeOwner: { uid: 999, mode: 0o700 },
  };
}

async function temporalServer(tag) {
  const { binaries, module } = await temporalOf(tag);
  return {
    layOut(root) {
      layOutRoot(root, { temporal: 1000 });
      place(root, 'etc/temporal/entrypoint.sh', join(module, 'docker/scripts/sh/entrypoint.sh'));
    },
    binds: [...(await alpine()), bind(join(binaries, 'temporal-server'), '/usr/local/bin/temporal-server')],
    env: { PATH },
    home: '/home/temporal',
    workdir: '/etc/temporal',
    user: '1000:1000',
    command: ['/etc/temporal/entrypoint.sh'],
  };
}

async function adminTools(tag) {
  const { binaries, module } = await temporalOf(tag);
  return {
    layOut: (root) => layOutRoot(root, { temporal: 1000 }),
    binds: [
      ...(await alpine()),
      bind(join(binaries, 'temporal-sql-tool'), '/usr/local/bin/temporal-sql-tool'),
      bind(join(cacheDir(), 'temporal'), '/usr/local/bin/temporal'),
      bind(join(module, 'schema'), '/etc/temporal/schema'),
    ],
    env: { PATH },
    home: '/home/temporal',
    user: '1000:1000',
    command: ['sh', '-c', 'trap exit INT HUP TERM; sleep infinity'],
  };
}

async function temporalUi(tag) {
  const module = await goModule(`github.com/temporalio/ui-server/v2@v${tag}`);
  const binaries = await cached(`ui-${tag}`, (next) => goBuild(module, next, { 'ui-server': './cmd/server' }));
  const home = '/home/ui-server';
  return {
    layOut(root) {
      layOutRoot(root, { temporal: 1000 });
      place(root, 'home/ui-server/start-ui-server.sh', join(module, 'docker/start-ui-server.sh'));
      place(root, 'home/ui-server/config/docker.yaml', join(module, 'config/docker.yaml'));
    },
    binds: [
      ...(await alpine(['/usr/bin/bash', '/usr/bin/curl'])),
      bind(join(binaries, 'ui-server'), `${home}/ui-server`),
    ],
    env: { PATH, TEMPORAL_CLOUD_UI: 'false' },
    home: '/home/temporal',
    workdir: home,
    user: '1000:1000',
    entrypoint: ['./start-ui-server.sh'],
  };
}

async function temporalOf(tag) {
  const module = await goModule(`go.temporal.io/server@v${tag}`);
  const binaries = await cached(`temporal-${tag}`, (next) =>
    goBuild(module, next, { 'temporal-server': './cmd/server', 'temporal-sql-tool': './cmd/tools/sql' }),
  );
  return { module, binaries };
}

/** Folder of a Go module's sources, which Go keeps. */
async function goModule(name) {
  return JSON.parse(await runOrThrow('go', ['mod', 'download', '-json', name], { cwd: '/' })).Dir;
}

async function goBuild(module, target, programs) {
  for (const [name, path] of Object.entries(programs)) {
    process.stdout.write(`Building ${name} of ${module.split('/mod/').at(-1)} (once, some minutes) ...\n`);
    const env = { ...process.env, CGO_ENABLED: '0' };
    await runOrThrow('go', ['build', '-trimpath', '-o', join(target, name), path], {
      cwd: module,
      env,
      timeoutMs: 3_600_000,
    });
  }
}

const bind = (source, target) => ({ source, target });

/** Copies a file of an image into the container's root, as a program. */
function place(root, target, source) {
  const path = join(root, target);
  mkdirSync(join(path, '..'), { recursive: true });
  copyFileSync(source, path);
  chmodSync(path, 0o755);
}
