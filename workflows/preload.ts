/**
 * Loaded once per worker thread instead of once per workflow: evaluating the schemas and the flows costs more
 * than running one. All workflows share what is loaded here, and the SDK freezes what it exports: no module of
 * `workflows`, `src/contract` or `src/domain` may keep anything of one flow outside of its functions.
 */
import './index.js';

/**
 * The SDK takes a stack trace for every promise of a workflow. Deeper ones cost a good part of a short flow;
 * these frames still name the step that waits.
 */
(Error as { stackTraceLimit?: number }).stackTraceLimit = 5;
