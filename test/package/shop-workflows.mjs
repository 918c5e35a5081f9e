import { condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { executeFlow } from 'holdfast/workflows';

export { order } from '../../docs/examples/shop/workflows.ts';

/** Pays, and tells what it was told of a failure, as a merchant's workflow that goes on without the payment. */
export async function pay(flow, input) {
  try {
    return await executeFlow(flow, input);
  } catch (error) {
    const { type, message, details } = error.cause ?? error;
    return { failed: { type, message, details } };
  }
}

/** Says all that it was told by a signal, once it hears "enough". */
export async function listen(first) {
  const words = [first];
  setHandler(defineSignal('hear'), (word) => void words.push(word));
  setHandler(defineUpdate('repeat'), (word) => word);
  await condition(() => words.includes('enough'));
  return words;
}
