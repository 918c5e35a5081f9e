import { expect, test } from 'vitest';
import { PLAIN_UNIT } from '../../tools/stack/profile-units.js';
import { dropped, undelivered } from './campaign/lost-events.js';
import { HOUR, sharedTime } from './rules/context.js';

const time = sharedTime({}, { webhooks: true });

const CREATED = 'payment.charge.create';

test('an event that the webhook handler refuses for a day is a violation, though its flow has ended well', async () => {
  const { world, client } = time.simulation;
  const webhooks = await world.connectWebhooks(client);
  webhooks.through = async (request, serve) =>
    request.headers['event-type'] === CREATED ? { status: 503, headers: {}, body: Buffer.alloc(0) } : serve(request);
  const input = await time.input();
  const charge = await time.start(input);
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
  await time.passUntil((await time.now()) + 30 * HOUR);
  expect(await undelivered(world)).toEqual([`${input.reference}: event ${CREATED} is given_up, last answered 503`]);
  webhooks.through = (request, serve) => serve(request);
});

test('an event that is dropped as foreign is a violation where the service says whose the payment is', async () => {
  const taken = { businessUnit: 'default', eventType: CREATED, result: 'foreign', paymentId: 'p' };
  const input = await time.input();
  await (await time.start(input)).outcome();
  const [entry] = await time.sandbox.ledger(input.reference);
  const ledger = [{ ...entry!, payment_id: 'p' }];
  expect(dropped([taken], [PLAIN_UNIT], ledger)).toEqual([`p: event ${CREATED} of default was dropped as foreign`]);
  const silent = { ...PLAIN_UNIT, profile: { echo_additional_details: false } };
  expect(dropped([taken], [silent], ledger)).toEqual([]);
  expect(dropped([{ ...taken, paymentId: 'forged' }], [PLAIN_UNIT], ledger)).toEqual([]);
});
