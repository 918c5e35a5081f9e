import type { Simulation } from '../simulation.js';
import type { SimulatedWorker } from '../worker/worker.js';
import type { Seeded } from '../world/seeded.js';
import type { Counts } from './counts.js';
import type { FaultSchedule } from './fault-schedule.js';

/** Flows that a worker keeps in memory. Few have no room: they replay a subscription of years at each of its tasks. */
const CACHES = [0, 10, 100, ...Array.from({ length: 57 }, () => 600)] as const;
const LONGEST_ABSENCE_MS = 30_000;

/** The workers of a batch. Whoever dies is replaced a while later. */
export class Workers {
  readonly #workers = new Map<string, SimulatedWorker>();
  #started = 0;
  readonly #random: Seeded;
  readonly #deaths: Seeded;

  constructor(
    private readonly simulation: Simulation,
    private readonly schedule: FaultSchedule,
    random: Seeded,
    private readonly counts: Counts,
  ) {
    this.#random = random.fork('crew');
    this.#deaths = random.fork('deaths in a task');
    schedule.kill = (name) => this.kill(name);
  }

  hire(): void {
    const cache = this.schedule.isOver ? 600 : this.#random.pick(CACHES);
    this.counts.add('cache', String(cache));
    const name = `worker ${(this.#started += 1)}`;
    const losesAnswer = (type: string) => this.schedule.losesAnswer(type) && this.#loses(name);
    this.#workers.set(name, this.simulation.startWorker({ cache, losesAnswer }));
  }

  /** The answer to a task; now and then the worker is lost with it. */
  #loses(name: string): true {
    if (this.#deaths.chance(0.3)) this.kill(name);
    return true;
  }

  killOne(): void {
    const names = [...this.#workers.keys()];
    if (names.length > 0) this.kill(this.#random.pick(names));
  }

  kill(name: string): void {
    const worker = this.#workers.get(name);
    if (worker === undefined || this.schedule.isOver) return;
    this.#workers.delete(name);
    for (const what of worker.underWayNow()) this.counts.add('crash point', what);
    this.counts.add('fault', 'worker killed');
    worker.kill();
    setTimeout(() => this.hire(), Math.round(LONGEST_ABSENCE_MS ** this.#random.next()));
  }

  /** As a deploy does. */
  async replaceOne(): Promise<void> {
    const [name] = this.#workers.keys();
    const worker = this.#workers.get(name ?? '');
    if (name === undefined || worker === undefined) return;
    this.#workers.delete(name);
    this.hire();
    this.counts.add('fault', 'worker replaced');
    await worker.stop();
  }
}
