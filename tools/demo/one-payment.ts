/**
 * Makes one payment on a stack with a sandbox, as a business service does, and prints it:
 * `docker compose --env-file deploy/demo.env --profile demo run --rm demo`. Ends with 1 if it did not succeed.
 */
import { SandboxControl } from '../../sandbox/control.js';
import { connectHoldfast, HoldfastError } from '../../src/client/index.js';

const CARD = '4111111111111111';
const SECONDS = 30;

/** @returns whether the payment has succeeded */
async function pay(): Promise<boolean> {
  const holdfast = await connectHoldfast();
  try {
    const reference = `demo-${Date.now().toString(36)}`;
    const { token } = await new SandboxControl(process.env['HOLDFAST_API_BASE_URL'] ?? '').tokenize(CARD);
    const paymentMethod = { type: 'tokenized' as const, token };
    const outcome = await holdfast.charge(
      { reference, amount: 4999, currency: 'EUR', paymentMethod },
      { waitFor: `${SECONDS} seconds` },
    );
    process.stdout.write(`payment ${reference} of 49.99 EUR: ${outcome.status}\n${JSON.stringify(outcome, null, 2)}\n`);
    return outcome.status === 'succeeded';
  } finally {
    await holdfast.close();
  }
}

try {
  process.exitCode = (await pay()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof HoldfastError ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
