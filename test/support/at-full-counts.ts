import { test } from '@jest/globals';
import { fullOr } from './storm.js';

/** What takes long and has its like among the short ones: left out of a short run, and shown there as skipped. */
export const atFullCounts = fullOr(1, 0) === 1 ? test : test.skip;
