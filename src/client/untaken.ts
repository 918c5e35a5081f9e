import { NOTIFICATIONS_TASK_QUEUE } from '../contract/names.js';
import { HoldfastError } from './errors.js';

/** @param staysOpen it has ended, and can't tell the merchant so */
export function untaken(name: string, staysOpen: boolean): HoldfastError {
  const why = staysOpen
    ? `The flow of "${name}" has ended, and closes once what it has to tell is handed over to the queue ` +
      `${NOTIFICATIONS_TASK_QUEUE} (does a worker serve it?): give the command again then`
    : `"${name}" has just closed; send the command again`;
  return new HoldfastError('EngineUnavailable', why, [], true);
}

export function stoppedWithoutPayment(name: string): HoldfastError {
  const why =
    `The flow of "${name}" was stopped before it named a payment, and may have moved money: nobody follows it any ` +
    'more. Look at the payment service for its reference before anything else is done';
  return new HoldfastError('FlowStopped', why);
}

export function stillWithoutPayment(name: string): HoldfastError {
  const why = `The flow of "${name}" has ended without a payment; nothing can be done to it`;
  return new HoldfastError('StateConflict', why);
}
