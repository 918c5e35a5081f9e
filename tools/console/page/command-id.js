// @ts-check

/**
 * The id under which a form gives its command. Pressed again, it is the same command for as long as money may have moved
 * by it: under another id it would move twice. Once it is known that none has, the next press is another command, since
 * another amount under the same id would be refused for ever.
 */
export class CommandId {
  #id = crypto.randomUUID();
  /** Something was answered, or lost, by which money may have moved. */
  #mayHaveMoved = false;

  get current() {
    return this.#id;
  }

  /**
   * @param {string} id under which it was sent
   * @param {boolean} movedNothing and never will
   */
  answered(id, movedNothing) {
    if (id !== this.#id) return;
    if (movedNothing) this.#renew();
    else this.#mayHaveMoved = true;
  }

  /**
   * The same of a request that was refused or has failed. It says nothing of what was sent under that id before.
   * @param {string} id
   * @param {boolean} movedNothing
   */
  failed(id, movedNothing) {
    if (id === this.#id && !(movedNothing && this.#mayHaveMoved)) this.answered(id, movedNothing);
  }

  #renew() {
    this.#id = crypto.randomUUID();
    this.#mayHaveMoved = false;
  }
}
