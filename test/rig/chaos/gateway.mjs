import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** The reference by which the campaign numbers a flow; its commands, cards and bills carry it too. */
const REFERENCE = /chaos-[a-z-]+-\d{6}/;
/** Of one connection, and not of the call. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'host', 'transfer-encoding', 'content-length'];

/**
 * Stands between our processes and the sandbox and passes every call on. A write can be kept waiting, before it reaches
 * the sandbox or once it was carried out, so that a process can be killed in the midst of it.
 */
export class Gateway {
  #server = createServer((incoming, outgoing) => void this.#pass(incoming, outgoing));
  #target;
  #points = new Map();
  #held = new Set();
  #writes = new Map();

  /** @param host address to listen on */
  async open(host) {
    await new Promise((resolve, reject) => this.#server.once('error', reject).listen(0, host, resolve));
    const { address, port } = this.#server.address();
    return `http://${address}:${port}`;
  }

  /** @param target address and port of the sandbox */
  passTo(host, port) {
    this.#target = { host, port };
  }

  /** Epoch ms of each write of a flow so far. */
  writesOf(reference) {
    return this.#writes.get(reference) ?? [];
  }

  /** Keeps a write of a flow waiting: its `nth`, from 1, `before` it is passed on or `after` it was carried out. */
  holdAt(reference, { nth, when }) {
    this.#points.set(reference, { nth, when });
  }

  /** References of the flows that wait now, and whose caller still does. */
  get held() {
    return [...this.#held].filter(({ outgoing }) => !outgoing.destroyed).map(({ reference }) => reference);
  }

  /** Lets pass what comes from now on. What waits goes on waiting. */
  stopHolding() {
    this.#points.clear();
  }

  /** Ends the connections of what waits: no reply, and what was not passed on is lost. */
  dropHeld() {
    for (const { outgoing } of this.#held) outgoing.destroy();
    this.#held.clear();
  }

  close() {
    this.stopHolding();
    this.dropHeld();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #pass(incoming, outgoing) {
    try {
      const body = await buffer(incoming);
      const { reference, when } = this.#pointOf(incoming, body);
      const hold = () => void this.#held.add({ reference, outgoing });
      if (when === 'before') return hold();
      const answer = await this.#forward(incoming, body);
      if (when === 'after') return hold();
      outgoing.writeHead(answer.status, answer.headers).end(answer.body);
    } catch {
      // The sandbox has cut the connection, or is not there: so it is for the caller.
      outgoing.destroy();
    }
  }

  #pointOf({ method, headers }, body) {
    if (method === 'GET') return {};
    const [reference] = REFERENCE.exec(`${headers['idempotency-key'] ?? ''} ${body}`) ?? [];
    if (reference === undefined) return {};
    const writes = [...this.writesOf(reference), Date.now()];
    this.#writes.set(reference, writes);
    const point = this.#points.get(reference);
    return point?.nth === writes.length ? { reference, when: point.when } : {};
  }

  async #forward({ method, url, headers }, body) {
    const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
    const sent = { ...passed, 'content-length': body.length };
    const answer = await new Promise((resolve, reject) => {
      request({ ...this.#target, method, path: url, headers: sent, agent: false }, resolve)
        .on('error', reject)
        .end(body);
    });
    const content = await buffer(answer);
    const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.includes(name));
    return { status: answer.statusCode, headers: Object.fromEntries(kept), body: content };
  }
}
