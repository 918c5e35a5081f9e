import { CHARGES, COMMANDS, LOCAL_CHARGES } from '../support/crash-paths.js';
import { crashTests } from '../support/crash-tests.js';
import { everyNth, fullOr } from '../support/counts.js';

const FULL = fullOr(1, 0) === 1;

// At full counts the commands have a file of their own.
crashTests(FULL ? CHARGES : [...LOCAL_CHARGES, ...COMMANDS], everyNth(fullOr(10, 16)));
