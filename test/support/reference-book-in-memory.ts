import type { ClaimAnswer, ReferenceBook, ReferenceClaim } from '../../src/contract/reference-book.js';

type Entry = ReferenceClaim & { namespace: string; paymentId?: string };

/** A reference book that a test can read, and make unreachable. */
export class ReferenceBookInMemory implements ReferenceBook {
  readonly namespace = 'default';
  readonly entries = new Map<string, Entry>();
  /** What is asked of it fails. */
  fails: readonly ('claim' | 'ownerOf' | 'notePayment')[] = [];

  async claim(workflowId: string, claim: ReferenceClaim): Promise<ClaimAnswer> {
    this.#refuseIf('claim');
    const entry = this.entries.get(workflowId) ?? { ...claim, namespace: this.namespace };
    this.entries.set(workflowId, entry);
    return this.#owner(entry, claim);
  }

  async ownerOf(workflowId: string, claim: ReferenceClaim): Promise<ClaimAnswer | undefined> {
    this.#refuseIf('ownerOf');
    const entry = this.entries.get(workflowId);
    return entry && this.#owner(entry, claim);
  }

  #owner(entry: Entry, claim: ReferenceClaim): ClaimAnswer {
    if (entry.firstRunId === claim.firstRunId) return { owner: 'this flow' };
    return { owner: 'another flow', ...entry, claimedAt: '2027-01-31T10:00:00.000Z' };
  }

  async notePayment(workflowId: string, { firstRunId }: ReferenceClaim, paymentId: string): Promise<void> {
    this.#refuseIf('notePayment');
    const entry = this.entries.get(workflowId);
    if (entry?.firstRunId !== firstRunId) throw new Error('the row is gone, or belongs to another flow');
    entry.paymentId = paymentId;
  }

  #refuseIf(call: 'claim' | 'ownerOf' | 'notePayment'): void {
    if (this.fails.includes(call)) throw new Error('planted by the test');
  }
}
