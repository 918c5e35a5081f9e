import { setTimeout as sleep } from 'node:timers/promises';
import type { HoldfastClient } from '../../src/client/index.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { SandboxControl } from '../../src/sandbox/control.js';
import type { AttackArguments } from './arguments.js';
import { askUntilFinal } from './asking.js';
import type { Killer } from './kills.js';
import type { AskedCharge } from './ledger-check.js';
import { FAULTS, planKills, randomOf } from './plan.js';
import { PLAIN_UNIT, type ProfileUnit } from './profile-units.js';

/** A charge whose answer takes longer is asked for again when the storm is over. */
const PATIENCE_MS = 3_000;

/** A dead worker's tasks are given to another one after 10 s; then a call may fail a few times. */
const MEET_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 200;

/** Cards of the sandbox for every ending: at once, pending and then either way, declined. */
const CARDS = ['4111111111111111', '4242424242424242', '5105105105105100', '5454545454545454'] as const;

export interface StormedCharge extends AskedCharge {
  /** Epoch ms. */
  readonly begunAt: number;
}

export interface StormParts {
  holdfast: HoldfastClient;
  sandbox: SandboxControl;
  killer: Killer;
  /** The charges are spread over them by turns. */
  units: readonly ProfileUnit[];
  /** Ends the storm early. */
  signal: AbortSignal;
}

/** Charges by so many callers while the service misbehaves and processes die. */
export class Storm {
  readonly #parts: StormParts;
  readonly #args: AttackArguments;
  readonly #random: () => number;
  readonly #answered: StormedCharge[] = [];
  #begun = 0;
  #begunAt = 0;

  constructor(parts: StormParts, args: AttackArguments) {
    this.#parts = parts;
    this.#args = args;
    this.#random = randomOf(args.seed);
  }

  get begun(): number {
    return this.#begun;
  }

  /** Charges whose callers have an answer, final or not. */
  get answered(): readonly StormedCharge[] {
    return this.#answered;
  }

  /** Resolves when every caller has gone and every process serves again. The faults are still planted. */
  async run(): Promise<readonly StormedCharge[]> {
    const { sandbox, killer, signal } = this.#parts;
    for (const { fault } of FAULTS) await sandbox.addFault(fault);
    this.#begunAt = Date.now();
    const failed = new AbortController();
    const until = AbortSignal.any([signal, failed.signal]);
    const callers = Array.from({ length: this.#args.concurrency }, () => this.#call(until));
    const work = [...callers, killer.run(planKills(this.#args), () => this.#progress(), until)];
    try {
      await Promise.all(work);
    } catch (error) {
      // Nobody may start a process again while the stack is being stopped.
      failed.abort();
      await Promise.allSettled(work);
      throw error;
    }
    await this.#untilAllHaveMetIt();
    return this.#answered;
  }

  /**
   * Callers may have gone while no worker ran: what they asked for must reach the service before the faults end. On a
   * busy machine hardly any charge would meet the storm otherwise.
   */
  async #untilAllHaveMetIt(): Promise<void> {
    const { sandbox, signal } = this.#parts;
    const limit = Date.now() + MEET_LIMIT_MS;
    while (!signal.aborted && Date.now() < limit) {
      if ((await sandbox.health()).payments >= this.#begun) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Share that is over. */
  #progress(): number {
    const { until } = this.#args;
    return 'ms' in until ? (Date.now() - this.#begunAt) / until.ms : this.#begun / until.charges;
  }

  async #call(until: AbortSignal): Promise<void> {
    const { holdfast } = this.#parts;
    while (this.#progress() < 1 && !until.aborted) {
      this.#begun += 1;
      const begunAt = Date.now();
      const input = await this.#newCharge(this.#begun);
      this.#answered.push({ begunAt, ...(await askUntilFinal(holdfast, input, PATIENCE_MS)) });
      // Where everything fails at once, callers must still not take the machine for themselves.
      await sleep(0);
    }
  }

  async #newCharge(number: number): Promise<ChargeInput> {
    const card = CARDS[Math.floor(this.#random() * CARDS.length)] ?? CARDS[0];
    const { sandbox, units } = this.#parts;
    const { name, publicKey } = units[number % units.length] ?? PLAIN_UNIT;
    const { token } = await sandbox.tokenize({ cardNumber: card, publicKey });
    return {
      reference: `attack-${name}-${String(number).padStart(6, '0')}`,
      // Each another one, so that an answer that belongs to another charge would show.
      amount: 1_000 + number,
      currency: 'USD',
      paymentMethod: { type: 'tokenized', token },
      businessUnit: name,
    };
  }
}
