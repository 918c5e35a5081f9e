import { afterEach, beforeEach } from 'vitest';
import { pauseClock, runClock } from '../simulation/active.js';

let running = 0;

// Time that nobody waits for would run by, days in a blink, while the runner goes from one test to the next. Tests that
// run at once share their time: it stands when the last of them has ended.
beforeEach(({ task }) => {
  running += 1;
  runClock(task.name);
});
afterEach(() => {
  running -= 1;
  if (running === 0) pauseClock();
});
