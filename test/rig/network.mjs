import { runOrThrow } from './run.mjs';

/**
 * One network namespace per container on one bridge without a way out, so that ports and names of a compose file work
 * as they stand, and what two containers say to each other can be cut off.
 */
export class Network {
  #id;
  #subnet;
  #count = 1;

  /** @param id of the rig, which begins the names of all that it makes */
  constructor(id) {
    this.#id = id;
    const number = Number.parseInt(id, 16);
    this.#subnet = `10.${200 + (number % 50)}.${(number >> 8) % 250}`;
  }

  /** The address of this machine, from which processes outside of containers reach them. */
  get gateway() {
    return `${this.#subnet}.1`;
  }

  async open() {
    await runOrThrow('ip', ['link', 'add', this.#bridge(), 'type', 'bridge']);
    await runOrThrow('ip', ['addr', 'add', `${this.gateway}/24`, 'dev', this.#bridge()]);
    await runOrThrow('ip', ['link', 'set', this.#bridge(), 'up']);
  }

  #bridge() {
    return `hfr${this.#id}`;
  }

  /** @returns `{ namespace, device, address }` of a further container */
  async add() {
    this.#count += 1;
    const namespace = `hfr${this.#id}-${this.#count}`;
    const device = `hfr${this.#id}.${this.#count}`;
    const address = `${this.#subnet}.${this.#count}`;
    await runOrThrow('ip', ['netns', 'add', namespace]);
    await runOrThrow('ip', ['link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace]);
    await runOrThrow('ip', ['link', 'set', device, 'master', this.#bridge(), 'up']);
    for (const args of [
      ['link', 'set', 'lo', 'up'],
      ['addr', 'add', `${address}/24`, 'dev', 'eth0'],
      ['link', 'set', 'eth0', 'up'],
    ])
      await runOrThrow('ip', ['-n', namespace, ...args]);
    return { namespace, device, address };
  }

  async remove({ namespace }) {
    await runOrThrow('ip', ['netns', 'del', namespace]);
  }

  /** Cuts a container off from all others. What it sends is lost without a word, as by a pulled cable. */
  async unplug({ device }) {
    await runOrThrow('ip', ['link', 'set', device, 'down']);
  }

  async plugIn({ device }) {
    await runOrThrow('ip', ['link', 'set', device, 'up']);
  }

  /**
   * Cuts these containers off from each other alone. One call at a time.
   * @returns a function that connects them again
   */
  async partition(...ends) {
    const isolate = async (mode) => {
      for (const { device } of ends)
        await runOrThrow('ip', ['link', 'set', device, 'type', 'bridge_slave', 'isolated', mode]);
    };
    await isolate('on');
    return () => isolate('off');
  }
}
