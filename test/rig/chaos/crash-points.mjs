import { setTimeout as sleep } from 'node:timers/promises';
import { PLAIN_UNIT } from '../../../dist/tools/stack/profile-units.js';
import { pairOf } from '../../../dist/tools/chaos/campaign.js';
import { SCENARIOS } from '../../../dist/tools/chaos/scenarios/scenarios.js';
import { kill } from '../killing.mjs';

/** The writes of a flow that are sampled: those of its first seconds. */
const SURVEY_MS = 20_000;
/** A call that waits is given up after 10 s, and then its flow goes on. */
const HOLD_MS = 7_000;
/** Flows of the round before would hold up those of the next one. Holds that wait for their deadline do not. */
const QUIET_WITHIN_MS = 20_000;
const MOST_LEFT = 8;
const LOOK_MS = 50;

/**
 * One flow of each kind is at a write of its own when processes are killed: before the write reaches the service, or when it
 * was carried out and the answer is lost. Kills are of processes.
 */
export class CrashPoints {
  #context;
  #rounds;
  #points = new Map();
  /** Names of the kinds of flows that were hit. */
  #hit = [];
  #planned = 0;

  constructor(context, rounds) {
    this.#context = context;
    this.#rounds = rounds;
  }

  /** One flow of each kind, undisturbed: which writes it makes, and when. */
  async survey() {
    const flows = this.#oneOfEach();
    const begun = Date.now();
    for (const { number } of flows) void this.#context.startFlow(number);
    await sleep(SURVEY_MS);
    for (const { kind, reference } of flows) {
      const writes = this.#context.gateway.writesOf(reference).filter((at) => at - begun < SURVEY_MS);
      // First all before they reach the service, so that rounds that are spread over the list have both.
      const points = ['before', 'after'].flatMap((when) =>
        writes.map((at, index) => ({ nth: index + 1, when, afterMs: at - begun })),
      );
      this.#points.set(kind, points);
    }
    const lacking = [...this.#points].filter(([, points]) => points.length === 0).map(([kind]) => kind);
    if (lacking.length > 0) throw new Error(`no write was seen of ${lacking.join(', ')}`);
    return `${[...this.#points.values()].flat().length} points of ${flows.length} kinds of flows`;
  }

  /** Brings a flow of each kind to one of its points and kills the containers. */
  async hit(round, containers) {
    const { rig, gateway } = this.#context;
    await within(QUIET_WITHIN_MS, () => this.#context.open <= MOST_LEFT);
    const flows = this.#oneOfEach().map((flow) => ({ ...flow, point: this.#pointOf(flow.kind, round) }));
    const longest = Math.max(...flows.map(({ point }) => point.afterMs));
    for (const { number, reference, point } of flows) {
      gateway.holdAt(reference, point);
      // All come to their points at about the same time.
      setTimeout(() => void this.#context.startFlow(number), longest - point.afterMs);
    }
    await sleep(longest);
    await within(HOLD_MS, () => gateway.held.length === flows.length);
    const held = gateway.held;
    this.#planned += flows.length;
    this.#hit.push(...flows.filter(({ reference }) => held.includes(reference)).map(({ kind }) => kind));
    gateway.stopHolding();
    // Their callers are dead by the time that the calls are dropped.
    await kill(rig, containers).finally(() => gateway.dropHeld());
    return `${held.length} of ${flows.length} flows were at their points`;
  }

  /** @throws Error if kinds of flows were never at their points, or most points were missed */
  result() {
    const never = SCENARIOS.map(({ name }) => name).filter((name) => !this.#hit.includes(name));
    const counted = `${this.#hit.length} of ${this.#planned} points were hit`;
    if (never.length > 0) throw new Error(`${counted}, and none of ${never.join(', ')}`);
    if (this.#hit.length < this.#planned / 2) throw new Error(`only ${counted}`);
    return `${counted}, of each kind of flow one at least`;
  }

  #oneOfEach() {
    return SCENARIOS.map(() => {
      const number = this.#context.nextNumber();
      const { scenario } = pairOf(number, [PLAIN_UNIT], SCENARIOS, this.#context.seed);
      return { number, kind: scenario.name, reference: this.#context.referenceOf(number) };
    });
  }

  /** Points that are spread evenly over those of its kind. */
  #pointOf(kind, round) {
    const points = this.#points.get(kind);
    return points[Math.floor(((round + 0.5) * points.length) / this.#rounds)];
  }
}

/** Waits until something is so, or no longer. */
async function within(ms, isSo) {
  for (const begun = Date.now(); Date.now() - begun < ms && !isSo();) await sleep(LOOK_MS);
}
