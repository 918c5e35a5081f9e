import { readFileSync } from 'node:fs';

/** Events that a run has reported so far: see `reporter.mjs`. */
export class RunEvents {
  /** Files that have ended: `{ file, ms, passed, skipped: [{ name, why }], failures: [{ name, reason }] }`. */
  files = [];
  /** Names of all files of the run. */
  chosen = [];
  /** Names of the files that are running. */
  running = new Set();
  /** Errors outside of any test. undefined until the run has ended normally. */
  errors;
  #path;
  #lines = 0;
  #parts;
  #errors = [];

  /** @param parts how many processes of vitest write to `path` */
  constructor(path, parts = 1) {
    this.#path = path;
    this.#parts = parts;
  }

  read() {
    let text = '';
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch {
      // No event has been written yet.
    }
    // The last line may be incomplete.
    const lines = text.split('\n').slice(0, -1);
    for (const line of lines.slice(this.#lines)) this.#take(JSON.parse(line));
    this.#lines = lines.length;
    return this;
  }

  get counts() {
    const sum = (of) => this.files.reduce((total, file) => total + of(file), 0);
    return {
      passed: sum((file) => file.passed),
      failed: sum((file) => file.failures.length) + (this.errors?.length ?? 0),
      skipped: sum((file) => file.skipped.length),
    };
  }

  #take({ type, ...event }) {
    if (type === 'run') this.chosen.push(...event.files);
    if (type === 'begin') this.running.add(event.file);
    if (type === 'file') this.running.delete(event.file);
    if (type === 'file') this.files.push(event);
    if (type !== 'end') return;
    this.#errors.push(...event.errors);
    this.#parts -= 1;
    if (this.#parts === 0) this.errors = this.#errors;
  }
}
