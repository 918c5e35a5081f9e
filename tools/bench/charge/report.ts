import { type Figures, PROCESSES, type Round } from './load.js';

export const SPEED_HEADER = ['', 'per s', 'x', 'p50 ms', 'x', 'p99 ms', 'p50 ms, c=1', 'x', 'p99 ms, c=1'];

export function speedRow(name: string, { together, alone }: Round, base: Round | undefined): string[] {
  return [
    name,
    together.perSecond.toFixed(1),
    ratio(together.perSecond, base?.together.perSecond),
    together.p50.toFixed(0),
    ratio(together.p50, base?.together.p50),
    together.p99.toFixed(0),
    alone.p50.toFixed(1),
    ratio(alone.p50, base?.alone.p50),
    alone.p99.toFixed(1),
  ];
}

/** @param engine what stands in the column of Temporal */
export function costHeader(engine = 'Temporal'): string[] {
  return ['CPU ms per charge', engine, ...PROCESSES.slice(1), 'all'];
}

export function costRow(name: string, { cpu }: Figures): string[] {
  const parts = PROCESSES.map((process) => cpu[process]);
  return [name, ...[...parts, parts.reduce((sum, part) => sum + part, 0)].map((ms) => ms.toFixed(1))];
}

export function ratio(own: number, base: number | undefined): string {
  return base === undefined ? '-' : (own / base).toFixed(2);
}
