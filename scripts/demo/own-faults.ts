import type { FaultInput, SandboxControl } from '../../src/sandbox/control.js';
import { isDemoReference } from './references.js';

/** What a demo flow plants: always bound to that flow's own reference. */
export type DemoFault = Omit<FaultInput, 'reconciliation_id'>;

/** Faults of this demo alone: nobody else's is ever touched. */
export class OwnFaults {
  readonly #sandbox: SandboxControl;
  readonly #planted = new Set<string>();

  constructor(sandbox: SandboxControl) {
    this.#sandbox = sandbox;
  }

  /** Returns the fault's id. */
  async plant(reference: string, fault: DemoFault): Promise<string> {
    const { id } = await this.#sandbox.addFault({ ...fault, reconciliation_id: reference });
    this.#planted.add(id);
    return id;
  }

  /** How often it has struck. */
  async timesFired(id: string): Promise<number> {
    return (await this.#sandbox.faults()).find((fault) => fault.id === id)?.fired ?? 0;
  }

  /** May be called more than once. One that is gone already is fine, and so is a sandbox that is being stopped. */
  async removeAll(): Promise<void> {
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
