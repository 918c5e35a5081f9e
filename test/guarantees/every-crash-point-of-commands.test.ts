import { COMMANDS } from '../support/crash-paths.js';
import { crashTests } from '../support/crash-tests.js';

crashTests(COMMANDS, () => true);
