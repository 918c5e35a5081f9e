// The SDK loads converters by `require`, which takes no source.
import '../../support/require-sources.mjs';
import { parseArgs } from 'node:util';
import { type CampaignOptions, type CampaignResult, faultsOfCampaign, runCampaign } from './campaign.js';
import { Counts, type Plain } from './counts.js';
import type { Violation } from './violations.js';

/** What one process reports to the one that started it. */
export interface ProcessReport {
  violations: Violation[];
  stories: string[];
  counts: Plain;
  cpuMs: number;
}

const FULL_FLOWS = 100_000;
const SHORT_FLOWS = 1_000;

/** @throws TypeError for an argument that is none */
export function readArguments(args: readonly string[]): CampaignOptions & { processes: number } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      flows: { type: 'string' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      unit: { type: 'string' },
      full: { type: 'boolean', default: false },
      processes: { type: 'string', default: '1' },
    },
  });
  const { flows = values.full ? FULL_FLOWS : SHORT_FLOWS, only, unit } = values;
  return {
    seed: values.seed,
    flows: Number(flows),
    only: only === undefined ? undefined : Number(only),
    unit,
    processes: only === undefined ? Number(values.processes) : 1,
  };
}

/** The part of one process. */
export async function simulate(options: CampaignOptions): Promise<ProcessReport> {
  const before = process.cpuUsage();
  const { violations, stories, counts } = await runCampaign(options);
  const { user, system } = process.cpuUsage(before);
  return { violations, stories, counts: counts.plain(), cpuMs: (user + system) / 1000 };
}

/** Of all processes. @returns lines for a person, and whether all is well */
export function report(
  parts: readonly ProcessReport[],
  options: CampaignOptions,
): { lines: string[]; isGreen: boolean } {
  const counts = new Counts();
  for (const part of parts) counts.addAll(part.counts);
  const whole: CampaignResult = {
    counts,
    violations: parts.flatMap(({ violations }) => violations),
    stories: parts.flatMap(({ stories }) => stories),
  };
  const faults = faultsOfCampaign(whole, options);
  const kinds = counts.plain();
  const flows = Object.values(kinds['flow type'] ?? {}).reduce((sum, times) => sum + times, 0);
  const runs = Object.values(kinds['run'] ?? {}).reduce((sum, times) => sum + times, 0);
  const cpuMs = parts.reduce((sum, part) => sum + part.cpuMs, 0);
  return {
    isGreen: faults.length === 0,
    lines: [
      ...Object.entries(kinds).flatMap(([kind, names]) => [
        kind,
        ...Object.entries(names)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, times]) => `  ${name.padEnd(64)} ${times}`),
      ]),
      ...whole.stories,
      ...faults,
      `${flows} flows in ${runs} runs, seed ${options.seed}: ${faults.length === 0 ? 'nothing is wrong' : `${faults.length} things are wrong`}`,
      `${(cpuMs / 1000).toFixed(0)} CPU-s, ${(cpuMs / Math.max(1, flows)).toFixed(0)} ms for a flow`,
    ],
  };
}
