/**
 * Loaded once per worker thread instead of once per workflow: evaluating the schemas and the flows costs more than
 * running one. All workflows share what is loaded here, and the SDK freezes its exports: no module of `workflows`,
 * `src/contract` or `src/domain` may keep state of one flow outside of its functions.
 */
import './index.js';

/**
 * The SDK takes a stack trace for every promise of a workflow. Deeper traces cost a good part of a short flow; five
 * frames still name the step that waits.
 */
(Error as { stackTraceLimit?: number }).stackTraceLimit = 5;
