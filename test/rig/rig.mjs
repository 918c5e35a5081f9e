import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Container } from './container.mjs';
import { foreignImage } from './foreign-images.mjs';
import { idOfRun, removeFolder, removeLeftOvers, removeRun, RUNS } from './left-overs.mjs';
import { Network } from './network.mjs';
import { ourImage } from './our-image.mjs';
import { run } from './run.mjs';
import { Volumes } from './volumes.mjs';

const LOOK_MS = 200;

/** Runs what a compose file says, as the engine would, on this machine. */
export class Rig {
  #model;
  #say;
  #id = randomBytes(2).toString('hex');
  #network;
  #containers = new Map();
  #images = new Map();
  #volumes;
  #hosts = '';
  #oneShots = 0;
  #deadline = 0;

  /**
   * @param model what `readCompose` returns
   * @param say is told what happens, a line each
   * @param options.diskBytes sizes of volumes that get a file system of their own, by name
   */
  static async open(model, say, { diskBytes } = {}) {
    await removeLeftOvers(say);
    const rig = new Rig(model, say, diskBytes);
    mkdirSync(rig.folder, { recursive: true });
    writeFileSync(join(rig.folder, 'owner'), idOfRun());
    await rig.#network.open();
    return rig;
  }

  constructor(model, say, diskBytes) {
    this.#model = model;
    this.#say = say;
    this.#volumes = new Volumes(this.folder, model, diskBytes);
    this.#network = new Network(this.#id);
  }

  get folder() {
    return join(RUNS, this.#id);
  }

  get network() {
    return this.#network;
  }

  /** The container of a service, such as `worker`; of a scaled one its number. */
  container(service, number = 1) {
    const found = this.#containers.get(`${service}-${number}`);
    if (found === undefined) throw new Error(`there is no container of ${service}`);
    return found;
  }

  /** Containers of services, not of `run`. */
  get containers() {
    return [...this.#containers.values()];
  }

  /**
   * Makes what is missing and starts what does not run, each once those that it depends on are as it says.
   * @param scale containers by service, default 1
   * @param services these and what they depend on; default: all that `up` starts
   * @throws Error of the first that can't be started, or of what was not there in time
   */
  async up({ scale = {}, services = Object.keys(this.#model.services), withinMs = 300_000 } = {}) {
    const wanted = new Set();
    const add = (name) => {
      if (wanted.has(name)) return;
      wanted.add(name);
      for (const other of Object.keys(this.#model.services[name]?.depends_on ?? {})) add(other);
    };
    for (const name of services) add(name);
    this.#deadline = Date.now() + withinMs;
    await this.#makeContainers(wanted, scale);
    const started = new Map();
    const start = (name) => {
      if (!started.has(name))
        started.set(
          name,
          this.#startService(name, (other) => start(other)),
        );
      return started.get(name);
    };
    await Promise.all([...wanted].map((name) => start(name)));
  }

  async #makeContainers(names, scale) {
    const wanted = [...names].flatMap((service) =>
      Array.from({ length: scale[service] ?? 1 }, (_, at) => ({ service, name: `${service}-${at + 1}` })),
    );
    const missing = wanted.filter(({ name }) => !this.#containers.has(name));
    const ends = [];
    for (const { service } of missing) {
      const end = await this.#network.add();
      ends.push(end);
      this.#hosts += `${end.address}\t${service}\n`;
    }
    for (const [at, { service, name }] of missing.entries())
      this.#containers.set(name, await this.#make(service, name, ends[at]));
  }

  async #make(serviceName, name, end) {
    const service = this.#model.services[serviceName];
    const image = await this.#imageOf(service);
    await this.#volumes.makeFor(service, image);
    const folder = join(this.folder, 'containers', name);
    mkdirSync(folder, { recursive: true });
    return new Container({
      ...{ name, service, image, end, folder, hosts: this.#hosts },
      ...{ volumes: this.#volumes.volumes, configs: this.#volumes.configs, groupPrefix: `hfr${this.#id}-` },
    });
  }

  /** Makes the images that the services need, as `docker compose build` and `pull` do. */
  async build() {
    for (const service of Object.values(this.#model.services)) await this.#imageOf(service);
  }

  /** Where the files of one of our images are, without those of its base. */
  async imageFolder(target) {
    return (await this.#imageOf({ build: { target } })).files;
  }

  async #imageOf({ build, image }) {
    const name = build === undefined ? image : (build.target ?? 'runtime');
    if (!this.#images.has(name))
      this.#images.set(
        name,
        build === undefined ? await foreignImage(image) : await ourImage(name, this.#say, build.context),
      );
    return this.#images.get(name);
  }

  async #startService(name, start) {
    for (const [other, { condition }] of Object.entries(this.#model.services[name].depends_on ?? {})) {
      await start(other);
      for (const container of this.#of(other)) await this.#until(container, condition);
    }
    for (const container of this.#of(name)) container.start();
  }

  #of(service) {
    return this.containers.filter(({ name }) => name.replace(/-\d+$/, '') === service);
  }

  async #until(container, condition) {
    const { name } = container;
    for (; ; await sleep(LOOK_MS)) {
      const { state, health, exitCode } = container;
      if (Date.now() > this.#deadline)
        throw new Error(`${name} is ${state}, ${health}, and should be ${condition}:\n${container.tail()}`);
      if (condition === 'service_started' && state !== 'created') return;
      if (condition === 'service_healthy') {
        if (health === 'healthy') return;
        if (health === 'unhealthy')
          throw new Error(`${name} is unhealthy: ${container.healthOutput}\n${container.tail()}`);
        if (state === 'exited') throw new Error(`${name} ended with ${exitCode}:\n${container.tail()}`);
      }
      if (condition === 'service_completed_successfully' && state === 'exited') {
        if (exitCode === 0) return;
        throw new Error(`${name} ended with ${exitCode}:\n${container.tail()}`);
      }
    }
  }

  /** What the containers of a service have printed last. */
  log(service) {
    return this.#of(service)
      .map((one) => one.tail(30))
      .join('\n');
  }

  /** Names, states and last words of what is not as it should be: services healthy, jobs done. */
  troubles() {
    return this.containers
      .filter(({ service, health, state, exitCode }) =>
        service.healthcheck === undefined ? state !== 'running' && exitCode !== 0 : health !== 'healthy',
      )
      .map((one) => `${one.name} is ${one.state}, ${one.health}: ${one.healthOutput.trim()}\n${one.tail(6)}`);
  }

  /** @throws Error that names what is not healthy after `withinMs` */
  async healthy(withinMs) {
    const begun = Date.now();
    for (let troubles = this.troubles(); troubles.length > 0; troubles = this.troubles()) {
      if (Date.now() - begun > withinMs) throw new Error(`after ${withinMs / 1000} s:\n${troubles.join('\n')}`);
      await sleep(LOOK_MS);
    }
  }

  /**
   * `docker compose run --rm`: a container of its own, once.
   * @param options.needs whether to wait for what it depends on
   * @returns `{ code, output }`
   */
  async run(service, { command, env = {}, needs = true } = {}) {
    this.#oneShots += 1;
    const name = `${service}-run-${this.#oneShots}`;
    this.#deadline = Date.now() + 120_000;
    const needed = needs ? Object.entries(this.#model.services[service].depends_on ?? {}) : [];
    for (const [other, { condition }] of needed)
      for (const container of this.#of(other)) await this.#until(container, condition);
    const end = await this.#network.add();
    const made = await this.#make(service, name, end);
    const { environment, ...rest } = made.service;
    made.service = { ...rest, restart: 'no', environment: { ...environment, ...env }, ...(command && { command }) };
    try {
      made.start();
      const code = await made.ended();
      return { code, output: made.tail(200) };
    } finally {
      await this.#network.remove(end);
      removeFolder(made.folder);
    }
  }

  /**
   * Asks a process over HTTP from inside of its container, so that partitions do not count.
   * @returns `{ status, body }`; status 0: no answer
   */
  async ask(service, port, path, { method = 'GET', body, number } = {}) {
    const { end } = this.container(service, number);
    const code = `
      const options = { method: ${JSON.stringify(method)}, signal: AbortSignal.timeout(10000) };
      const body = ${JSON.stringify(body ?? null)};
      if (body !== null) Object.assign(options, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
      fetch('http://127.0.0.1:${port}${path}', options)
        .then(async (answer) => console.log(JSON.stringify({ status: answer.status, body: await answer.text() })))
        .catch(() => console.log(JSON.stringify({ status: 0, body: '' })));`;
    const { stdout } = await run('nsenter', [`--net=/run/netns/${end.namespace}`, process.execPath, '-e', code]);
    return JSON.parse(stdout);
  }

  /**
   * Stops all in the order of their dependencies and removes the containers. Volumes stay.
   * @returns for each process that ran `{ name, isOurs, ms, code, said }`, `code` 137 if it had to be killed
   */
  async down() {
    const stopped = new Map();
    const dependents = (name) =>
      Object.keys(this.#model.services).filter((one) => name in (this.#model.services[one].depends_on ?? {}));
    const stop = async (name) => {
      await Promise.all(dependents(name).map((other) => stopOnce(other)));
      await Promise.all(this.#of(name).map((container) => container.stop()));
    };
    const stopOnce = (name) => {
      if (!stopped.has(name)) stopped.set(name, stop(name));
      return stopped.get(name);
    };
    await Promise.all(Object.keys(this.#model.services).map((name) => stopOnce(name)));
    const stops = this.containers.flatMap(({ name, service, lastStop }) =>
      lastStop === undefined ? [] : [{ name, isOurs: service.build !== undefined, ...lastStop }],
    );
    for (const { end, folder } of this.containers) {
      await this.#network.remove(end);
      removeFolder(folder);
    }
    this.#containers.clear();
    this.#hosts = '';
    return stops;
  }

  /** Ends everything at once and removes it, volumes too. */
  async remove() {
    for (const container of this.containers) void container.stop().catch(() => undefined);
    await removeRun(this.#id);
  }
}
