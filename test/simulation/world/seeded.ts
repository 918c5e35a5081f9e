import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Numbers that look random and are the same for the same seed. Never for a secret. */
export class Seeded {
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(readonly seed: string | number) {
    const digest = crypto.createHash('sha256').update(String(seed)).digest();
    this.#a = digest.readInt32LE(0);
    this.#b = digest.readInt32LE(4);
    this.#c = digest.readInt32LE(8);
  }

  /** Numbers of their own, so that who draws more of one does not shift the other. */
  fork(name: string): Seeded {
    return new Seeded(`${this.seed}/${name}`);
  }

  /** 32 bits, by sfc32. */
  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** From 0 up to 1. */
  next(): number {
    return (this.uint32() * 2 ** 21 + (this.uint32() >>> 11)) / 2 ** 53;
  }

  /** A whole number from `min` up to, not including, `max`. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws Error when there is nothing to choose from */
  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('nothing to choose from');
    return from[this.int(0, from.length)] as T;
  }

  fill(view: ArrayBufferView): void {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += 4) {
      const word = this.uint32();
      for (let byte = 0; byte < 4 && at + byte < bytes.length; byte += 1) bytes[at + byte] = word >>> (8 * byte);
    }
  }

  bytes(size: number): Buffer {
    const bytes = Buffer.alloc(size);
    this.fill(bytes);
    return bytes;
  }

  /** Version 4. */
  uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const bytes = this.bytes(16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}

type Done<T> = (error: Error | null, value: T) => void;

/**
 * Makes everything random of this process come from `seeded`: `Math.random`, the global `crypto` and `node:crypto`, also
 * for modules that imported its functions by name. `Math.random` has numbers of its own, since the test runner draws some.
 * Left as they are: keys that are generated, and the `getRandomValues` that `node:crypto` itself exports.
 * @returns what undoes it
 */
export function installSeeded(seeded: Seeded): () => void {
  const math = seeded.fork('Math.random');
  const source = seeded.fork('crypto');
  const answer = <T>(value: T, done: Done<T> | undefined): T | undefined => {
    if (done === undefined) return value;
    setImmediate(() => done(null, value));
    return undefined;
  };
  const uuid = (): string => source.uuid();
  const fill = <V extends ArrayBufferView>(view: V): V => {
    source.fill(view);
    return view;
  };
  const fillPart = <V extends ArrayBufferView>(view: V, offset = 0, size = view.byteLength - offset): V => {
    source.fill(new Uint8Array(view.buffer, view.byteOffset + offset, size));
    return view;
  };
  const undo = [
    replace(Math, 'random', () => math.next()),
    replace(crypto, 'randomUUID', uuid),
    replace(crypto, 'randomBytes', (size: number, done?: Done<Buffer>) => answer(source.bytes(size), done)),
    replace(crypto, 'randomInt', (...given: (number | Done<number>)[]) => {
      const limits = given.filter((one) => typeof one === 'number');
      const done = given.find((one) => typeof one === 'function');
      const [min, max] = limits.length > 1 ? limits : [0, limits[0]];
      return answer(source.int(min ?? 0, max ?? 0), done);
    }),
    replace(crypto, 'randomFillSync', fillPart),
    replace(crypto, 'randomFill', (view: ArrayBufferView, ...given: (number | Done<ArrayBufferView>)[]) => {
      const [offset, size] = given.filter((one) => typeof one === 'number');
      const done = given.find((one) => typeof one === 'function');
      answer(fillPart(view, offset, size), done);
    }),
    replace(globalThis.crypto, 'randomUUID', uuid),
    replace(globalThis.crypto, 'getRandomValues', fill),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const one of undo) one();
    syncBuiltinESMExports();
  };
}

/** @returns what puts back the member as it was, be it inherited or the object's own */
export function replace(holder: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { value, configurable: true, writable: true, enumerable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(holder, name);
    else Object.defineProperty(holder, name, before);
  };
}
