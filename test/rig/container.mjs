import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs } from './compose.mjs';
import { limitedGroups, mostMemory } from './cgroups.mjs';
import { Health } from './health.mjs';
import { run } from './run.mjs';

const here = import.meta.dirname;
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'];
/** As the engine does: twice as long each time, and from the start again after a run of ten seconds. */
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 60_000;
const RAN_WELL_MS = 10_000;

/** What the engine leaves a container by default; and what the way from root to the container's user takes, no more. */
const DEFAULT_CAPABILITIES =
  'chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap';
const NO_CAPABILITIES = 'sys_chroot,setuid,setgid';

/** Options of setpriv. A process without root keeps none of its capabilities. */
function privilegesOf({ cap_drop: dropped = [], security_opt: options = [] }) {
  const kept = (dropped.includes('ALL') ? NO_CAPABILITIES : DEFAULT_CAPABILITIES).split(',');
  const bounding = `--bounding-set=-all,${kept.map((name) => `+${name}`).join(',')}`;
  return [bounding, ...(options.includes('no-new-privileges:true') ? ['--no-new-privs'] : [])].join(' ');
}

/** One container: what compose says of its service, and what its image holds, run as a process of this machine. */
export class Container {
  /** `created`, `running`, `restarting`, `exited` */
  state = 'created';
  /** Of the last run that ended. */
  exitCode;
  starts = 0;
  #process;
  #health;
  #stopping = false;
  #ended = Promise.resolve();
  #prepared = false;
  #groups = [];

  /**
   * @param options.end its place in the network
   * @param options.volumes a folder of this machine for each named volume
   */
  constructor({ name, service, image, end, folder, hosts, volumes, configs, groupPrefix }) {
    Object.assign(this, { name, service, image, end, folder, hosts, volumes, configs, groupPrefix });
    this.#health = new Health(service.healthcheck, (command, timeoutMs) => this.exec(command, { timeoutMs }));
  }

  get root() {
    return join(this.folder, 'root');
  }

  get log() {
    return join(this.folder, 'log');
  }

  /** `none`, `starting`, `healthy`, `unhealthy` */
  get health() {
    return this.state === 'running' ? this.#health.state : 'none';
  }

  get healthOutput() {
    return this.#health.output;
  }

  /** How the process ended when it was last asked to: ms that it took, its exit code, its last words. */
  lastStop;

  get #user() {
    const [uid, gid = uid] = String(this.service.user ?? this.image.user ?? '0:0').split(':');
    return `${uid}:${gid}`;
  }

  /** Nothing of this machine's environment: what the image and compose say. A variable without a value is not passed. */
  get env() {
    const given = Object.entries(this.service.environment ?? {}).filter(([, value]) => value !== null);
    return { HOSTNAME: this.name, HOME: this.image.home ?? '/', ...this.image.env, ...Object.fromEntries(given) };
  }

  get #command() {
    const { entrypoint, command, init } = this.service;
    const first = entrypoint ?? this.image.entrypoint ?? [];
    const rest = command ?? (entrypoint === null || entrypoint === undefined ? this.image.command : []) ?? [];
    return [...(init === true ? ['/bin/sh', '/.init'] : []), ...first, ...rest];
  }

  #prepare() {
    if (this.#prepared) return;
    const { root } = this;
    this.image.layOut(root);
    for (const path of ['proc', 'dev/shm', 'etc', 'tmp', 'sys/fs/cgroup', '.'])
      mkdirSync(join(root, path), { recursive: true });
    chmodSync(join(root, 'tmp'), 0o1777);
    for (const device of DEVICES) writeFileSync(join(root, 'dev', device), '');
    writeFileSync(join(root, 'etc/hosts'), `127.0.0.1\tlocalhost\n${this.hosts}${this.end.address}\t${this.name}\n`);
    writeFileSync(join(root, 'etc/hostname'), `${this.name}\n`);
    writeFileSync(join(root, 'etc/resolv.conf'), '');
    cpSync(join(here, 'init.sh'), join(root, '.init'));
    const mounts = this.#mounts();
    for (const { kind, source, target } of mounts) {
      const path = join(root, target);
      if (existsSync(path)) continue;
      mkdirSync(dirname(path), { recursive: true });
      if (kind === 'tmpfs' || statSync(source).isDirectory()) mkdirSync(path, { recursive: true });
      else writeFileSync(path, '');
    }
    const lines = mounts.map(({ kind, source, target, mode }) => [kind, source, target, mode].join('\t'));
    writeFileSync(join(this.folder, 'mounts'), `${lines.join('\n')}\n`);
    const { memory, pids } = this.service.deploy?.resources?.limits ?? {};
    this.#groups = limitedGroups(`${this.groupPrefix}${this.name}`, { memory, pids });
    this.#prepared = true;
  }

  #mounts() {
    const { tmpfs = [], volumes = [], configs = [], shm_size: shm = 67_108_864 } = this.service;
    const bind = (source, target, mode) => ({ kind: 'bind', source, target, mode });
    return [
      ...DEVICES.map((device) => bind(`/dev/${device}`, `/dev/${device}`, 'rw')),
      { kind: 'tmpfs', source: `,mode=1777,size=${shm}`, target: '/dev/shm', mode: 'rw' },
      bind('/sys/fs/cgroup', '/sys/fs/cgroup', 'ro'),
      ...this.image.binds.map(({ source, target }) => bind(source, target, 'ro')),
      ...tmpfs.map((text) => {
        const [target, options = 'rw'] = text.split(':');
        return { kind: 'tmpfs', source: `,${options}`, target, mode: 'rw' };
      }),
      ...volumes.map(({ type, source, target, read_only: readOnly }) =>
        bind(type === 'volume' ? this.volumes[source] : source, target, readOnly === true ? 'ro' : 'rw'),
      ),
      ...configs.map(({ source, target = `/${source}` }) => bind(this.configs[source], target, 'ro')),
    ];
  }

  /** Starts the process, and again whenever the restart policy says so. */
  start() {
    if (this.state === 'running' || this.state === 'restarting') return;
    this.#prepare();
    this.#stopping = false;
    this.#ended = this.#keepRunning();
  }

  async #keepRunning() {
    const [policy, most = Infinity] = String(this.service.restart ?? 'no').split(':');
    let pause = FIRST_RESTART_MS;
    for (let failures = 0; ;) {
      const begun = Date.now();
      this.exitCode = await this.#runOnce();
      if (this.exitCode !== 0) failures += 1;
      const again =
        !this.#stopping &&
        (policy === 'always' ||
          policy === 'unless-stopped' ||
          (policy === 'on-failure' && this.exitCode !== 0 && failures <= Number(most)));
      if (!again) break;
      this.state = 'restarting';
      pause = Date.now() - begun >= RAN_WELL_MS ? FIRST_RESTART_MS : Math.min(pause * 2, LONGEST_RESTART_MS);
      await sleep(pause);
      if (this.#stopping) break;
    }
    this.state = 'exited';
  }

  async #runOnce() {
    const { root, folder, service, image, end } = this;
    const log = openSync(this.log, 'a');
    const inside = [
      ...[root, join(folder, 'mounts'), this.#user, service.working_dir ?? image.workdir ?? '/'],
      ...[String(service.read_only === true), this.name, this.#groups.join(' '), privilegesOf(service)],
    ];
    // It ends with this process, however that ends.
    const child = spawn(
      '/usr/bin/setpriv',
      [
        ...['--pdeathsig', 'KILL', 'nsenter', `--net=/run/netns/${end.namespace}`],
        ...['unshare', '--mount', '--uts', '--ipc', '--pid', '--fork', '--kill-child', '--'],
        ...['/bin/sh', join(here, 'enter.sh'), ...inside, '--', ...this.#command],
      ],
      { env: this.env, stdio: ['ignore', log, log], detached: true },
    );
    closeSync(log);
    this.#process = child;
    this.state = 'running';
    this.starts += 1;
    const stopChecks = this.#health.begin();
    const code = await new Promise((resolve) => {
      child.on('error', () => resolve(127));
      child.on('exit', (status, signal) => resolve(signal === null ? status : 137));
    });
    await stopChecks();
    this.#process = undefined;
    return code;
  }

  /** Process id, on this machine, of the container's first process. */
  async pid() {
    for (let tries = 0; tries < 200; tries += 1) {
      const parent = this.#process?.pid;
      const path = `/proc/${parent}/task/${parent}/children`;
      const [child] = parent !== undefined && existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ') : [];
      if (child) return Number(child);
      await sleep(10);
    }
    throw new Error(`${this.name} has no process: it is ${this.state}`);
  }

  /** Sends a signal to the first process, as `kill` by somebody else does: the restart policy holds. */
  async signal(name) {
    process.kill(await this.pid(), name);
  }

  /** As the engine stops a container: its signal, then after the grace period SIGKILL. */
  async stop() {
    this.#stopping = true;
    if (this.state !== 'running') {
      await this.#ended;
      return;
    }
    const graceMs = durationMs(this.service.stop_grace_period ?? '10s');
    const begun = Date.now();
    await this.signal(this.service.stop_signal ?? this.image.stopSignal ?? 'SIGTERM');
    const killing = setTimeout(() => void this.signal('SIGKILL').catch(() => undefined), graceMs);
    await this.#ended;
    clearTimeout(killing);
    this.lastStop = { ms: Date.now() - begun, code: this.exitCode, said: this.tail(5) };
  }

  /** Resolves with the exit code once the process has ended for good. */
  async ended() {
    await this.#ended;
    return this.exitCode;
  }

  /** Runs a command inside, as its user and with its environment. */
  async exec(command, options = {}) {
    const [uid, gid] = this.#user.split(':');
    const target = ['--target', String(await this.pid()), '--mount', '--uts', '--ipc', '--net', '--pid', '--root'];
    const workdir = this.service.working_dir ?? this.image.workdir ?? '/';
    const args = [...target, `--wdns=${workdir}`, '--setgid', gid, '--setuid', uid, '--', ...command];
    return await run('/usr/bin/nsenter', args, { env: this.env, ...options });
  }

  /** Bytes; undefined where this machine does not count them. */
  get mostMemory() {
    return mostMemory(this.#groups);
  }

  /** The end of what it has printed. */
  tail(lines = 15) {
    return existsSync(this.log) ? readFileSync(this.log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n') : '';
  }
}
