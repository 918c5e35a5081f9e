import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HoldfastClient } from '../client/holdfast-client.js';
import type { WaitOptions } from '../client/wait-options.js';
import { show } from '../contract/fields.js';
import { CommandError } from './errors.js';

/** A flow that a line of a file asks for. */
export interface LineOf {
  workflowId: string;
  reference: string;
  ask(holdfast: HoldfastClient, wait: WaitOptions): Promise<object>;
}

export type Line<Asked extends LineOf = LineOf> = Asked & {
  /** From 1. */
  number: number;
  /** Of the line's text: a report names a line by it. */
  hash: string;
};

export interface LineFault {
  /** From 1. */
  number: number;
  fault: string;
}

/** What a line asks for, or its faults; with the names of its flow where these can be read all the same. */
type ParsedLine<Asked> =
  { asked: Asked } | { faults: readonly string[]; named?: Pick<LineOf, 'workflowId' | 'reference'> };

/**
 * Parses JSON lines, each of which asks for one flow. Finds every fault of every line, and each flow that an earlier line
 * has asked for.
 */
export function parseLines<Asked extends LineOf>(
  source: string,
  parse: (value: unknown) => ParsedLine<Asked>,
): { lines: Line<Asked>[]; faults: LineFault[] } {
  const lines: Line<Asked>[] = [];
  const faults: LineFault[] = [];
  const first = new Map<string, number>();
  for (const [index, whole] of source.split('\n').entries()) {
    const text = whole.trim();
    if (text === '') continue;
    const number = index + 1;
    const value = jsonOf(text);
    const parsed = value === undefined ? { faults: ['is no JSON'] } : parse(value);
    const named = 'asked' in parsed ? parsed.asked : parsed.named;
    if ('asked' in parsed) lines.push({ ...parsed.asked, number, hash: hashOf(text) });
    else faults.push(...parsed.faults.map((fault) => ({ number, fault })));
    if (named === undefined) continue;
    const earlier = first.get(named.workflowId);
    if (earlier === undefined) first.set(named.workflowId, number);
    else faults.push({ number, fault: `${show(named.reference)} stands in line ${earlier} already` });
  }
  if (lines.length === 0 && faults.length === 0) faults.push({ number: 1, fault: 'is missing: the file is empty' });
  return { lines, faults };
}

/** undefined for what is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** @throws CommandError */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** @param done what is not done because of the faults, as "Nothing was sent" */
export function faulty(done: string, file: string, faults: readonly string[]): CommandError {
  return new CommandError([`${done}. ${file} has faults:`, ...faults.map((fault) => `- ${fault}`)].join('\n'));
}

export function sayFaults(faults: readonly LineFault[]): string[] {
  return faults.map(({ number, fault }) => `line ${number}: ${fault}`);
}
