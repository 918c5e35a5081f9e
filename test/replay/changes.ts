import type { Plain } from './decode.js';

/** Something that the code sends otherwise than an old history recorded, on purpose. */
export interface Change {
  /** Its name, without `.json`. */
  history: string;
  event: number;
  /** As the test names it. */
  path: string;
  /** What is sent now; undefined when it is left out. */
  now: Plain | undefined;
  why: string;
}

/** The histories stay as they were recorded: running flows of that age must go on. */
export const CHANGES: readonly Change[] = [];
