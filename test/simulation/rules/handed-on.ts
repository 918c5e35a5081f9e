import type { Payload } from '@temporalio/common';
import type { SimulatedTime } from '../simulated-time.js';

/** What one run of a flow hands on to the next. */
export interface HandedOn {
  /** Of the latest run that was continued, as plain JSON. */
  clear(): Promise<object>;
  /** From now on the next run is given this in its place, or nothing. */
  replaceBy(instead: Payload | undefined): void;
  /** Gives the latest run what the one before it has left, and so each later one. */
  restore(): void;
}

/** A payload that no codec has touched, which every worker can read. */
export const plainPayload = (value: object): Payload => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(value)),
});

/** Watches what the runs of a flow hand on, so that it can be replaced. */
export function handedOn(time: SimulatedTime, workflowId: string): HandedOn {
  const { engine } = time.simulation;
  const begin = engine.begin.bind(engine);
  let latest: Payload | undefined;
  let replaced: { by: Payload | undefined } | undefined;
  let restore = (): void => undefined;
  engine.begin = (start, ...rest) => {
    const [input, carried] = start.input?.payloads ?? [];
    const isNext = start.workflowId === workflowId && start.continuedFrom !== undefined;
    if (!isNext || input === undefined || carried === undefined) return begin(start, ...rest);
    latest = carried;
    // The event of the start keeps this very list, so that it can be put right.
    const payloads = [input, carried];
    if (replaced !== undefined) payloads.splice(1, 1, ...(replaced.by === undefined ? [] : [replaced.by]));
    restore = () => void payloads.splice(1, 1, carried);
    return begin({ ...start, input: { payloads } }, ...rest);
  };
  return {
    async clear() {
      const [codec] = time.client.options.loadedDataConverter.payloadCodecs;
      const [clear] = (await codec?.decode(latest === undefined ? [] : [latest])) ?? [];
      return JSON.parse(Buffer.from(clear?.data ?? []).toString()) as object;
    },
    replaceBy(instead) {
      replaced = { by: instead };
    },
    restore() {
      engine.begin = begin;
      restore();
    },
  };
}
