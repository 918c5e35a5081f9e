import { type Command, commandOfEvent, type Known, markerOf } from './commands.js';
import { type History, type Plain, whole } from './decode.js';
import type { Locals } from './golden.js';
import { updateOf } from './jobs.js';

/**
 * What the code has asked for in one run, in the order of the history.
 *
 * @param history with decoded payloads
 * @param locals what its local activities were given, which the history does not hold
 */
export function commandsOf({ events }: History, locals: Locals = {}): Command[] {
  const first = events?.[0]?.workflowExecutionStartedEventAttributes;
  const activities = new Map<number, string>();
  const updates = new Map<string, ReturnType<typeof updateOf>>();
  const known: Known = {
    taskQueue: first?.taskQueue?.name ?? '',
    searchAttributes: {},
    memo: {},
    activityId: (scheduledEventId) => activities.get(whole(scheduledEventId)),
    update: (instanceId) => updates.get(instanceId) ?? updateOf(undefined),
  };
  return (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) activities.set(whole(event.eventId), scheduled.activityId ?? '');
    const admitted = event.workflowExecutionUpdateAdmittedEventAttributes?.request;
    if (admitted) updates.set(updateOf(admitted).id, updateOf(admitted));
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    if (accepted?.acceptedRequest) updates.set(accepted.protocolInstanceId ?? '', updateOf(accepted.acceptedRequest));
    const command = commandOfEvent(event, known);
    if (command?.kind !== 'localActivity') return command ?? [];
    return { kind: command.kind, content: { ...locals[markerOf(event).seq], ...command.content } };
  });
}

/** What differs from run to run, in the order in which it is looked for. */
const VOLATILE: readonly [string, RegExp][] = [
  ['uuid', /(?<![0-9a-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-z])/g],
  ['moment', /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g],
  ['date', /\b\d{4}-\d\d-\d\d\b/g],
  // The random part of a reference that `newReference` makes.
  ['reference', /\b[0-9a-f]{8}-[0-9a-f]{4}\b/g],
  ['hash', /\b[0-9a-f]{12,64}\b/g],
  ['notification', /\bntf_[0-9a-f]{32}\b/g],
  ['merchant', /http:\/\/(?:127\.0\.0\.1:\d+|merchant\.test)\/hook/g],
  ['port', /(?<=127\.0\.0\.1:)\d+/g],
];
/** From 2017 to 2128: no amount and no duration is so long. */
const isMoment = (value: number): boolean => value >= 1.5e12 && value < 5e12;

/**
 * With every id, reference and moment replaced by a placeholder that numbers it by its first appearance, such as
 * `<uuid 2>`: two runs of one scenario are then equal, and one that takes the wrong id is not. A duration that
 * depends on the moment of the run stays as it is.
 */
export function withPlaceholders(commands: readonly Command[]): Command[] {
  const numbers = new Map<string, Map<string, number>>();
  const placeholder = (kind: string, value: string): string => {
    const ofKind = numbers.get(kind) ?? new Map<string, number>();
    numbers.set(kind, ofKind.set(value, ofKind.get(value) ?? ofKind.size + 1));
    return `<${kind} ${ofKind.get(value) ?? 0}>`;
  };
  const inText = (text: string): string => {
    let replaced = text;
    for (const [kind, pattern] of VOLATILE) replaced = replaced.replace(pattern, (found) => placeholder(kind, found));
    return replaced;
  };
  const inside = (value: Plain): Plain => {
    if (typeof value === 'string') return inText(value);
    if (typeof value === 'number')
      return isMoment(value) ? placeholder('moment', new Date(value).toISOString()) : value;
    if (Array.isArray(value)) return value.map(inside);
    if (typeof value !== 'object' || value === null) return value;
    // In the order of the keys: a number must not depend on how an object was built.
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.map(([key, item]) => [inText(key), inside(item)]));
  };
  return commands.map(({ kind, content }) => ({ kind, content: inside(content) as Command['content'] }));
}
