import { AMOUNT_FAULTS } from './amounts-of-bills.mjs';
import { ANSWER_FAULTS } from './answers-and-absence.mjs';
import { BELIEVED_ANSWER_FAULTS } from './believed-answers.mjs';
import { BILLED_THROUGH_FAULTS } from './billed-through.mjs';
import { BILLING_FAULTS } from './billing.mjs';
import { BILLING_FLOW_FAULTS } from './billing-flow.mjs';
import { CONFIGURATION_FAULTS } from './configuration.mjs';
import { HOLD_END_FAULTS } from './ends-of-holds.mjs';
import { EARLY_AND_FORGOTTEN_FAULTS } from './early-and-forgotten-bills.mjs';
import { EVENT_PATH_FAULTS } from './event-paths.mjs';
import { KEY_FAULTS } from './starts-and-keys.mjs';
import { COMMAND_ANSWER_FAULTS } from './answers-to-commands.mjs';
import { DETAIL_FAULTS } from './flow-details.mjs';
import { FLOW_FAULTS } from './flows-and-evidence.mjs';
import { LATE_BILL_FAULTS } from './late-bills.mjs';
import { HOLD_LOOK_FAULTS } from './looks-at-holds.mjs';
import { NOTIFICATION_FAULTS } from './notifications.mjs';
import { OPERATOR_FAULTS } from './operators.mjs';
import { PAYLOAD_FAULTS } from './payloads.mjs';
import { REASON_FAULTS } from './reasons-and-words.mjs';
import { RECONCILE_FAULTS } from './reconcile.mjs';
import { RESET_BILL_FAULTS } from './resets-of-bills.mjs';
import { RESET_HOLD_FAULTS } from './resets-of-holds.mjs';
import { RESTORE_FAULTS } from './restores.mjs';
import { SETTLING_FAULTS } from './settling.mjs';
import { SECOND_READING_FAULTS } from './second-readings.mjs';
import { SLOW_UNIT_FAULTS } from './slow-units.mjs';
import { SUM_FAULTS } from './sums.mjs';
import { TOLD_END_FAULTS } from './told-ends.mjs';
import { TOLD_IN_PASSING_FAULTS } from './told-in-passing.mjs';
import { VOID_FAULTS } from './voids.mjs';
import { WAITING_EVENT_FAULTS } from './waiting-events.mjs';
import { WEBHOOK_FAULTS } from './webhook.mjs';
import { WINDOW_FAULTS } from './windows.mjs';

/**
 * Mistakes that somebody could make, each of which breaks a promise: `npm run mutants` makes them one by one, and a test
 * must notice each. None leaves this list; one whose text was rewritten gets the new text.
 *
 * `from` stands exactly once in `file` and becomes `to`. `promise` is the rule in a sentence, for who reads which test
 * has failed. `tests` are run first; the whole short run follows only if they all pass.
 */
export const FAULTS = [
  ...KEY_FAULTS,
  ...WINDOW_FAULTS,
  ...ANSWER_FAULTS,
  ...FLOW_FAULTS,
  ...DETAIL_FAULTS,
  ...NOTIFICATION_FAULTS,
  ...PAYLOAD_FAULTS,
  ...SETTLING_FAULTS,
  ...SUM_FAULTS,
  ...RECONCILE_FAULTS,
  ...AMOUNT_FAULTS,
  ...BILLED_THROUGH_FAULTS,
  ...BILLING_FAULTS,
  ...BILLING_FLOW_FAULTS,
  ...VOID_FAULTS,
  ...HOLD_END_FAULTS,
  ...HOLD_LOOK_FAULTS,
  ...RESET_HOLD_FAULTS,
  ...RESET_BILL_FAULTS,
  ...RESTORE_FAULTS,
  ...WEBHOOK_FAULTS,
  ...CONFIGURATION_FAULTS,
  ...SLOW_UNIT_FAULTS,
  ...WAITING_EVENT_FAULTS,
  ...TOLD_IN_PASSING_FAULTS,
  ...LATE_BILL_FAULTS,
  ...EARLY_AND_FORGOTTEN_FAULTS,
  ...SECOND_READING_FAULTS,
  ...COMMAND_ANSWER_FAULTS,
  ...EVENT_PATH_FAULTS,
  ...BELIEVED_ANSWER_FAULTS,
  ...REASON_FAULTS,
  ...OPERATOR_FAULTS,
  ...TOLD_END_FAULTS,
];
