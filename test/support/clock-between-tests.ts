import { afterEach, beforeEach } from 'vitest';
import { pauseClock, runClock } from '../simulation/active.js';

// Time that nobody waits for would run by, days in a blink, while the runner goes from one test to the next.
beforeEach(({ task }) => runClock(task.name));
afterEach(pauseClock);
