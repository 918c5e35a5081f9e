import type { DeliveryView } from '../../sandbox/control.js';
import type { DeliveryRow, Said } from './answers.js';

export function deliveryRow(delivery: DeliveryView): DeliveryRow {
  return {
    id: delivery.id,
    eventType: delivery.event_type,
    reference: delivery.reconciliation_id,
    at: new Date(Number(delivery.created)).toISOString(),
    attempts: delivery.attempts,
    said: sayDelivery(delivery),
  };
}

function sayDelivery({ status, last_status: answer, last_error: error }: DeliveryView): Said {
  const lastly = answer === null ? (error ?? undefined) : `answered ${answer}`;
  const said: Readonly<Record<DeliveryView['status'], Said>> = {
    pending: {
      what: lastly === undefined ? 'On its way' : `Not accepted (${lastly})`,
      tone: 'waiting',
      waitsFor: 'the next attempt',
      toDo: 'Nothing: it is sent again for 24 hours.',
    },
    delivered: {
      what: `Accepted (${lastly ?? 'answered'})`,
      tone: 'good',
      toDo: 'Nothing. Sent again, it changes nothing: the handler drops repeats.',
    },
    given_up: { what: `Given up (${lastly ?? 'no answer'})`, tone: 'bad', toDo: 'Send it again.' },
    lost: {
      what: 'Lost by a fault: never sent',
      tone: 'bad',
      toDo: 'Nothing: a read replaces it. Or send it after all.',
    },
    cancelled: { what: 'Cancelled: its endpoint was removed', tone: 'neutral', toDo: 'Nothing.' },
  };
  return said[status];
}
