import { COMMANDS } from '../support/crash-paths.js';
import { crashTests } from '../support/crash-tests.js';
import { everyNth } from '../support/counts.js';

crashTests(COMMANDS, everyNth(10));
