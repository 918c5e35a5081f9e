import { test } from 'vitest';
import { fullOr } from './counts.js';

type Declare = (name: string, run: () => unknown, limitMs?: number) => void;

const left: Declare = (name, run, limitMs) =>
  test.skip(`${name} (only at full counts: npm run test:full)`, run, limitMs);

/** What takes long and has its like among the short ones: left out of a short run, and shown there as skipped. */
export const atFullCounts: Declare = fullOr(1, 0) === 1 ? test : left;
