import type { FaultInput, SandboxControl } from '../../sandbox/control.js';
import { isDemoReference } from './references.js';

/** A fault of a demo flow. It is always bound to that flow's reference. */
export type DemoFault = Omit<FaultInput, 'reconciliation_id'>;

/** Faults of this demo only. Faults of others are never touched. */
export class OwnFaults {
  readonly #sandbox: SandboxControl;
  readonly #planted = new Set<string>();
  #over = false;

  constructor(sandbox: SandboxControl) {
    this.#sandbox = sandbox;
  }

  /** @returns the fault's id */
  async plant(reference: string, fault: DemoFault): Promise<string> {
    if (this.#over) throw new Error('the demo is over: no fault is planted any more');
    const { id } = await this.#sandbox.addFault({ ...fault, reconciliation_id: reference });
    this.#planted.add(id);
    // The request was under way while `removeAll` ran.
    if (this.#over) await this.#remove();
    return id;
  }

  /** How often the fault has fired. */
  async timesFired(id: string): Promise<number> {
    return (await this.#sandbox.faults()).find((fault) => fault.id === id)?.fired ?? 0;
  }

  /** Removes the faults for good; may be called repeatedly. Never rejects, because the sandbox may have stopped. */
  async removeAll(): Promise<void> {
    this.#over = true;
    await this.#remove();
  }

  async #remove(): Promise<void> {
    const ids = [...this.#planted];
    this.#planted.clear();
    await Promise.allSettled(ids.map((id) => this.#sandbox.removeFault(id)));
  }

  /** Removes faults that a killed demo has left behind. They can no longer match any request. */
  async removeLeftOver(): Promise<void> {
    const left = (await this.#sandbox.faults()).filter(
      ({ reconciliation_id: reference }) => reference !== undefined && isDemoReference(reference),
    );
    await Promise.allSettled(left.map(({ id }) => this.#sandbox.removeFault(id)));
  }
}
