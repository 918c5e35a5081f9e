/** A transaction event with the fields that each one has, and no other. */
export const LEAST_EVENT = {
  hash: 'ab',
  eventType: 'payment.charge.update',
  created: '2027-01-31T10:00:00Z',
  businessUnit: 'default',
  paymentId: 'p',
  trusted: true,
};
