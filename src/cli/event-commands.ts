import type { EventOptions, Request } from './arguments.js';
import type { Engine } from './engine.js';
import { listEvents, type ListedEvent } from './events.js';
import { replayEvents, type Replay } from './replay-events.js';
import { asJson, asLines, printable, table, time } from './table.js';

interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** `holdfast events list`. */
export async function showEvents(
  { client, address, namespace }: Engine,
  { options, json }: Extract<Request, { command: 'events list' }>,
  { print, printError }: Output,
): Promise<void> {
  const { events, more } = await upTo(client, options);
  if (json) print(asJson(events));
  else if (events.length > 0) print(asLines(eventTable(events)));
  else printError(`No such event in namespace "${namespace}" at ${address}.\n`);
  if (more) printError(`There are more than these ${events.length}: narrow it down, or raise --limit.\n`);
}

/** `holdfast events replay`. Resolves with the exit code: 1 when an event could not be replayed. */
export async function replay(
  { client, address, namespace }: Engine,
  { events, json }: Extract<Request, { command: 'events replay' }>,
  { print, printError }: Output,
): Promise<number> {
  const { names, more } = 'limit' in events ? hashesOf(await upTo(client, events)) : { names: events, more: false };
  const replays = await replayEvents(client, names);
  if (json) print(asJson(replays));
  else if (replays.length > 0) print(asLines(replays.map(replayLine)));
  else printError(`No such event in namespace "${namespace}" at ${address}.\n`);
  if (more)
    printError(`There are more than these ${replays.length}, the newest: name the others by --payment or --status.\n`);
  return more || replays.some(({ result }) => result === 'failed') ? 1 : 0;
}

function hashesOf({ events, more }: Awaited<ReturnType<typeof upTo>>): { names: string[]; more: boolean } {
  return { names: events.map(({ hash }) => hash), more };
}

/** Requests one event more than it shows, to know whether there are more. */
async function upTo(
  client: Engine['client'],
  options: EventOptions,
): Promise<{ events: ListedEvent[]; more: boolean }> {
  const events = await listEvents(client, { ...options, limit: options.limit + 1 });
  return { events: events.slice(0, options.limit), more: events.length > options.limit };
}

/** Number of hash digits shown: enough to be unique in practice. */
const SHOWN_DIGITS = 12;
const HEAD = ['EVENT', 'TYPE', 'STATUS', 'WHY', 'PAYMENT', 'REFERENCE', 'PARKED (UTC)', ''];

/** One line per event. Type, reason and reference are encrypted, so they are left out without the keys. */
function eventTable(events: readonly ListedEvent[]): string[] {
  const cells = events.map((event) => [
    event.hash.slice(0, SHOWN_DIGITS),
    printable(event.eventType ?? '-'),
    event.status,
    event.reason ?? '-',
    printable(event.paymentId),
    printable(event.reference ?? '-'),
    time(event.parkedAt),
    event.needsOperator ? 'needs an operator' : '',
  ]);
  return table([HEAD, ...cells]);
}

const SAID = {
  woken: 'looks for its flow now',
  startedAgain: 'looks for its flow again, for 24 h',
  delivered: 'has been delivered already',
} as const;

function replayLine(replayed: Replay): string {
  const hash = printable(replayed.hash.slice(0, SHOWN_DIGITS));
  return replayed.result === 'failed'
    ? `${hash}  not replayed: ${printable(replayed.why)}`
    : `${hash}  ${SAID[replayed.result]}`;
}
