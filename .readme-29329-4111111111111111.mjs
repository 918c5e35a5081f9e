const token = '8d531976-a2fd-4ee8-9a39-62622b537113';
import { connectHoldfast } from 'holdfast/client';

const holdfast = await connectHoldfast(); // TEMPORAL_ADDRESS, HOLDFAST_ENCRYPTION_KEYS, ...
const outcome = await holdfast.charge({
  reference: 'order-xx1111', // your own unique reference: the same one is the same payment, for ever
  amount: 1095, // minor units: 10.95 USD
  currency: 'USD',
  paymentMethod: { type: 'tokenized', token },
});
if (outcome.status === 'succeeded') console.log('paid:', outcome.transactionId);
else if (outcome.status === 'declined')
  console.log('declined:', outcome.category, 'try again with:', outcome.retryable);
else if (outcome.status === 'notExecuted') console.log('nothing happened:', outcome.reason);
else console.log('not known yet:', await holdfast.explain('order-xx1111')); // pending or unknown: ask again later
await holdfast.close();
