import type { FaultInput, SandboxControl } from '../../sandbox/control.js';
import { isDemoReference } from './references.js';

/** What a demo flow plants: always bound to that flow's own reference. */
export type DemoFault = Omit<FaultInput, 'reconciliation_id'>;

/** Faults of this demo alone: nobody else's is ever touched. */
export class OwnFaults {
  readonly #sandbox: SandboxControl;
  readonly #planted = new Set<string>();
  #over = false;

  constructor(sandbox: SandboxControl) {
    this.#sandbox = sandbox;
  }

  /** Returns the fault's id. */
  async plant(reference: string, fault: DemoFault): Promise<string> {
    if (this.#over) throw new Error('the demo is over: no fault is planted any more');
    const { id } = await this.#sandbox.addFault({ ...fault, reconciliation_id: reference });
    this.#planted.add(id);
    // It was on its way while the others were removed.
    if (this.#over) await this.#remove();
    return id;
  }

  /** How often it has struck. */
  async timesFired(id: string): Promise<number> {
    return (await this.#sandbox.faults()).find((fault) => fault.id === id)?.fired ?? 0;
  }

  /** For good; may be called more than once. Never fails: the sandbox may be gone by then. */
  async removeAll(): Promise<void> {
    this.#over = true;
    await this.#remove();
  }

  async #remove(): Promise<void> {
    const ids = [...this.#planted];
    this.#planted.clear();
    await Promise.allSettled(ids.map((id) => this.#sandbox.removeFault(id)));
  }

  /** Those that an earlier demo could not remove because it was killed. They can't match anything any more. */
  async removeLeftOver(): Promise<void> {
    const left = (await this.#sandbox.faults()).filter(
      ({ reconciliation_id: reference }) => reference !== undefined && isDemoReference(reference),
    );
    await Promise.allSettled(left.map(({ id }) => this.#sandbox.removeFault(id)));
  }
}
