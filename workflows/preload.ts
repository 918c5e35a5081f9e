/**
 * Loaded once per worker thread instead of once per workflow: evaluating the schemas costs far more than a
 * whole charge. Only modules without any state may stand here, since all workflows share them.
 */
import '../src/contract/charge.js';
import '../src/contract/fingerprint.js';
import '../src/contract/messages.js';
import '../src/contract/resolve-pending.js';
import '../src/domain/absence.js';
import '../src/domain/card-numbers.js';
import '../src/domain/decline.js';
import '../src/domain/ownership.js';
import '../src/domain/settling.js';
import '../src/domain/show-money.js';
import '../src/domain/windows.js';
