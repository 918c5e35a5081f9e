import { faultsOf, type PlannedFault } from '../../../tools/chaos/plan.js';
import type { SandboxControl } from '../../../sandbox/control.js';
import type { Counts } from './counts.js';

/** What the service does wrong beside the faults of `npm run chaos`. */
const FURTHER: readonly PlannedFault[] = [
  {
    label: 'answered 429',
    fault: { path: '/payments*', action: 'status', status: 429, retry_after_s: 7, probability: 0.02 },
  },
  { label: 'answered 500', fault: { path: '/payments*', action: 'status', status: 500, probability: 0.02 } },
  {
    label: 'answered 503 after acting',
    fault: { path: '/payments*', action: 'status', status: 503, after: true, probability: 0.02 },
  },
  {
    label: 'answers delayed 12 s',
    fault: { path: '/payments*', action: 'delay', delay_ms: 12_000, probability: 0.01 },
  },
  {
    // Longer than a caller waits: the next try comes while the service still works on the first. An analysis that is refused
    // so goes to a person, and is not what was asked for.
    label: 'answers delayed 100 s',
    fault: { method: 'POST', path: '/payments/*/c*', action: 'delay', delay_ms: 100_000, probability: 0.05 },
  },
  {
    label: 'provider not reached',
    fault: {
      // Of charges: an analysis without a decision is one for a person, and of a capture that fails at once no answer tells.
      ...{ path: '/payments/*/ch*', action: 'result', status: 'Failed', category: 'provider_network_error' },
      probability: 0.05,
    },
  },
  { label: 'events held back 30 min', fault: { action: 'delay_event', delay_ms: 1_800_000, probability: 0.05 } },
];

const PLANTED = [...faultsOf('mixed'), ...FURTHER];
const KEYS_REFUSED = 'answered 401';
/** Few calls are about cards: a thousand flows need not meet their faults. */
export const FAULT_LABELS: readonly string[] = [
  ...PLANTED.map(({ label }) => label).filter((label) => !label.startsWith('card calls')),
  KEYS_REFUSED,
];

/** Plants them, and counts how often each struck. */
export class ServiceFaults {
  readonly #planted: { label: string; id: string }[] = [];

  constructor(
    private readonly control: SandboxControl,
    private readonly counts: Counts,
  ) {}

  async plant(): Promise<void> {
    for (const { label, fault } of PLANTED) {
      const { id } = await this.control.addFault(fault);
      this.#planted.push({ label, id });
    }
  }

  /** The service answers every call with 401 for a while, as when a key was changed too early. */
  async refuseKeys(ms: number): Promise<void> {
    const { id } = await this.control.addFault({ action: 'status', status: 401, path: '/payments*' });
    this.#planted.push({ label: KEYS_REFUSED, id });
    setTimeout(() => void this.#lift([id]), ms);
  }

  async lift(): Promise<void> {
    await this.#lift(this.#planted.map(({ id }) => id));
  }

  async #lift(ids: readonly string[]): Promise<void> {
    const faults = new Map((await this.control.faults()).map((fault) => [fault.id, fault]));
    for (const id of ids) {
      const at = this.#planted.findIndex((one) => one.id === id);
      const [planted] = at < 0 ? [] : this.#planted.splice(at, 1);
      if (planted === undefined) continue;
      this.counts.add('fault', planted.label, faults.get(id)?.fired ?? 0);
      await this.control.removeFault(id);
    }
  }
}
