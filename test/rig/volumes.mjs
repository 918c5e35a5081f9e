import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDisk } from './disks.mjs';

/** The named volumes and the configs of a compose file, as folders and files of this machine below the rig's folder. */
export class Volumes {
  /** Paths by name. */
  volumes = {};
  configs = {};
  #folder;
  #model;
  #diskBytes;

  /** @param diskBytes sizes of volumes, by name, that get a file system of their own, so that they can be full */
  constructor(folder, model, diskBytes = {}) {
    this.#folder = folder;
    this.#model = model;
    this.#diskBytes = diskBytes;
  }

  /** Makes what the service names and is not there yet. */
  async makeFor({ volumes = [], configs = [] }, image) {
    for (const { type, source } of volumes) if (type === 'volume') await this.#makeVolume(source, image);
    for (const { source } of configs) this.#makeConfig(source);
  }

  /** A new volume belongs to the user to whom its folder in the image belongs. */
  async #makeVolume(name, { volumeOwner }) {
    if (name in this.volumes) return;
    const bytes = this.#diskBytes[name];
    const path = bytes === undefined ? join(this.#folder, 'volumes', name) : await makeDisk(this.#folder, name, bytes);
    mkdirSync(path, { recursive: true });
    this.volumes[name] = path;
    if (volumeOwner === undefined) return;
    chmodSync(path, volumeOwner.mode);
    chownSync(path, volumeOwner.uid, volumeOwner.uid);
  }

  #makeConfig(name) {
    const path = join(this.#folder, 'configs', name);
    const { content, file } = this.#model.configs[name];
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content ?? readFileSync(file));
    this.configs[name] = path;
  }
}
