import {
  billNowSchema,
  cancelSubscriptionSchema,
  changeCardSchema,
  changePlanSchema,
  pauseSchema,
  refundPeriodSchema,
  resumeSchema,
} from '../../src/contract/subscription-commands.js';
import { type Published, TOKEN } from './published.js';

/** Arguments of the commands to a subscription. */
export const SUBSCRIPTION_COMMANDS = {
  'pause-command': {
    schema: pauseSchema.zod,
    description: 'Argument of update "pause" of a subscription: no bill leaves until it is resumed.',
    examples: [{}, { commandId: 'pause-1', openPeriod: 'drop', who: 'ada', why: 'asked by the customer' }],
  },
  'resume-command': {
    schema: resumeSchema.zod,
    description: 'Argument of update "resume": goes on after a pause, and says what becomes of the periods since then.',
    examples: [{}, { commandId: 'resume-1', missedPeriods: 'billLatest', who: 'ada' }],
  },
  'change-card-command': {
    schema: changeCardSchema.zod,
    description: 'Argument of update "changeCard": another stored card of the same customer, from the next attempt on.',
    examples: [{ token: TOKEN }, { commandId: 'card-2', token: TOKEN, consentTransactionId: '483297487231504' }],
  },
  'change-plan-command': {
    schema: changePlanSchema.zod,
    description: 'Argument of update "changePlan": amount, interval or time of day from the next period on.',
    examples: [{ amount: 1_299 }, { commandId: 'yearly', interval: { every: 1, unit: 'year' }, billAt: '12:00' }],
  },
  'cancel-command': {
    schema: cancelSubscriptionSchema.zod,
    description: 'Argument of update "cancel": ends a subscription now, or with the present period.',
    examples: [{ when: 'periodEnd' }, { commandId: 'cancel-1', when: 'now', who: 'ada', why: 'case 19' }],
  },
  'bill-now-command': {
    schema: billNowSchema.zod,
    description: 'Argument of update "billNow": bills the period that it names, once.',
    examples: [{ period: 3 }, { commandId: 'early-4', period: 4, who: 'ada' }],
  },
  'refund-period-command': {
    schema: refundPeriodSchema.zod,
    description: 'Argument of update "refundPeriod": refunds a billed period, or a part of it.',
    examples: [{}, { commandId: 'back-3', period: 3, amount: 500, who: 'ada', why: 'case 20' }],
  },
} satisfies Record<string, Published>;
