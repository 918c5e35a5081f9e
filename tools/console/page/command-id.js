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
  /** Requests under this id that have no answer yet. */
  #underWay = 0;

  get current() {
    return this.#id;
  }

  /** @param {string} id under which a request leaves now: it ends with `answered` or `failed` */
  sent(id) {
    if (id === this.#id) this.#underWay += 1;
  }

  /**
   * @param {string} id under which it was sent
   * @param {boolean} movedNothing and never will
   */
  answered(id, movedNothing) {
    if (id !== this.#id) return;
    this.#underWay -= 1;
    if (movedNothing) this.#renew();
    else this.#mayHaveMoved = true;
  }

  /**
   * The same of a request that was refused or has failed. It says nothing of the others under that id: money may have moved,
   * or may move yet, by what was answered before and by what is still under way.
   * @param {string} id
   * @param {boolean} movedNothing
   */
  failed(id, movedNothing) {
    if (id !== this.#id) return;
    this.#underWay -= 1;
    if (!movedNothing) this.#mayHaveMoved = true;
    else if (!this.#mayHaveMoved && this.#underWay === 0) this.#renew();
  }

  #renew() {
    this.#id = crypto.randomUUID();
    this.#mayHaveMoved = false;
    this.#underWay = 0;
  }
}
