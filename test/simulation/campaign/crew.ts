import type { Simulation } from '../simulation.js';
import type { SimulatedWorker } from '../worker/worker.js';
import type { Seeded } from '../world/seeded.js';
import type { Counts } from './counts.js';
import type { Weather } from './weather.js';

/** Flows that a worker keeps in memory. */
const CACHES = [0, 10, 100, ...Array.from({ length: 17 }, () => 600)] as const;
const LONGEST_ABSENCE_MS = 30_000;

/** The workers of a batch. Whoever dies is replaced a while later. */
export class Crew {
  readonly #workers = new Map<string, SimulatedWorker>();
  #started = 0;
  readonly #random: Seeded;

  constructor(
    private readonly simulation: Simulation,
    private readonly weather: Weather,
    random: Seeded,
    private readonly counts: Counts,
  ) {
    this.#random = random.fork('crew');
    weather.kill = (name) => this.kill(name);
  }

  hire(): void {
    const cache = this.weather.isOver ? 600 : this.#random.pick(CACHES);
    this.counts.add('cache', String(cache));
    const worker = this.simulation.startWorker({ cache });
    this.#workers.set(`worker ${(this.#started += 1)}`, worker);
  }

  killOne(): void {
    const names = [...this.#workers.keys()];
    if (names.length > 0) this.kill(this.#random.pick(names));
  }

  kill(name: string): void {
    const worker = this.#workers.get(name);
    if (worker === undefined || this.weather.isOver) return;
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
