import { randomUUID } from 'node:crypto';
import type { Wire } from '../sandbox.js';

const MOST = 200;

/** Ids and tokens that answers named, so that later requests meet what is there. */
export class Pool {
  private readonly ids = new Map<string, string[]>();
  /** Transactions stand under their payment, cards under their customer. */
  private readonly parents = new Map<string, string>();

  add(kind: string, id: string, parent?: string): void {
    const known = this.ids.get(kind) ?? [];
    this.ids.set(kind, [...known, id].slice(-MOST));
    if (parent !== undefined) this.parents.set(id, parent);
  }

  /** Forgets the others of that kind. */
  only(kind: string, id: string): void {
    this.ids.set(kind, [id]);
  }

  any(kind: string, pick: number): string {
    const known = this.ids.get(kind) ?? [];
    return known[known.length - 1 - (pick % Math.max(1, known.length))] ?? randomUUID();
  }

  /** Learns from a successful answer to a POST. */
  learn(path: string, { body, status }: Wire): void {
    if (status !== 201) return;
    const [, root = '', parent, plural] = path.split('?')[0]?.split('/') ?? [];
    if (typeof body.token === 'string') this.add('token', body.token, root === 'customers' ? parent : undefined);
    if (typeof body.id !== 'string') return;
    if (root === 'sandbox') this.add(parent ?? '', body.id);
    else if (plural === undefined) this.add(root, body.id);
    else this.add(`${root}/${plural}`, body.id, parent);
  }

  /** The path with every parameter filled, as far as possible with ids that belong together. */
  fill(path: string, pick: number): string {
    const own = this.any(ownKind(path), pick);
    const parent = /\{(token|transaction_id|redirection_id)\}/.test(path) ? this.parents.get(own) : undefined;
    return path
      .replace(/\{(id|token|transaction_id|redirection_id)\}/, own)
      .replace(/\{(payment|customer)_id\}/, (_all, kind: string) => parent ?? this.any(`${kind}s`, pick));
  }

  /** A body whose references name what is there. */
  refer(body: unknown, pick: number): unknown {
    if (typeof body !== 'object' || body === null) return body;
    if (Array.isArray(body)) return body.map((item) => this.refer(item, pick));
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => {
        if (typeof value !== 'string') return [name, this.refer(value, pick)];
        if (name === 'token' || name === 'payment_method_token') return [name, this.any('token', pick)];
        if (name === 'credit_card_cvv' && pick > 5) return [name, '123'];
        // One that is there, of that very payment, would be luck.
        if (name === 'capture_id' && pick > 5) return [name, undefined];
        if (name === 'customer_id') return [name, this.any('customers', pick)];
        return [name, value];
      }),
    );
  }
}

/** The kind of what the last parameter of a path names. */
function ownKind(path: string): string {
  const [, root = '', first = '', plural = ''] = path.split('/');
  if (root === 'customers' || root === 'tokens') return 'token';
  return root === 'sandbox' ? first : `${root}/${plural}`;
}
