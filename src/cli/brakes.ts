import type { Client } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { HoldfastClient } from '../client/holdfast-client.js';
import { BRAKE_KNOWN_WITHIN_MS, type BrakeRequest, type Brakes } from '../contract/brakes.js';
import { brakedAt, brakeOf, sayBrake } from '../domain/brakes.js';
import type { BrakesRequest } from './brake-arguments.js';
import { countFlows } from './deployment.js';
import type { Engine } from './engine.js';
import { asJson, asLines, printable, table, time } from './table.js';
import { quoted } from '../client/visibility-words.js';

interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
}

/**
 * `brake`, `release` and `brakes`. Resolves with the exit code: 1 for the release of a unit that is not braked, or one that
 * does not say when that was braked: given again after a lost answer it would lift a brake that nobody has looked at.
 */
export async function runBrakes({ client }: Engine, asked: BrakesRequest, output: Output): Promise<number> {
  const { brakes } = new HoldfastClient(client);
  const { print, printError } = output;
  if (asked.command === 'brakes') {
    const all = await brakes.list();
    const braked = all.braked.map((brake) => ({ ...brake, brakedAt: brakedAt(all, brake) }));
    print(asked.json ? asJson({ ...all, braked }) : asLines(listed(all)));
    return 0;
  }
  const { businessUnit } = asked.request;
  if (asked.command === 'release' && asked.request.since === undefined) {
    const all = await brakes.list();
    const brake = brakeOf(all, businessUnit);
    if (brake === undefined) {
      if (asked.json) print(asJson({}));
      // Not asked for: it would lift a brake that somebody has set since this was read.
      sayNotBraked(all, businessUnit, output);
      return 1;
    }
    const at = brakedAt(all, brake);
    if (asked.json) print(asJson({ now: { ...brake, brakedAt: at } }));
    else print(asLines([sentence(`${sayBrake(brake)}. It stops ${stops(brake)}.`)]));
    printError(`Nothing was released. If this is the one, give it again with: --since ${at}\n`);
    return 1;
  }
  const after = asked.command === 'brake' ? await brakes.brake(asked.request) : await brakes.release(asked.request);
  const { before } = after;
  const now = brakeOf(after, businessUnit);
  if (asked.json) print(asJson({ ...(before !== undefined && { before }), ...(now !== undefined && { now }) }));
  else if (now !== undefined) print(asLines([sentence(`${sayBrake(now)}. It stops ${stops(now)}.`)]));
  else if (before !== undefined) print(asLines([sentence(`business unit "${businessUnit}" is released.`)]));
  if (now === undefined && before === undefined) {
    sayNotBraked(after, businessUnit, output);
    return 1;
  }
  printError(`Every worker that reaches Temporal knows it within ${BRAKE_KNOWN_WITHIN_MS / 1_000} s.\n`);
  if (before !== undefined) printError(`Until now ${printable(sayBrake(before))}. It stopped ${stops(before)}.\n`);
  sayOthers(after, businessUnit, output);
  if (now !== undefined) {
    const hint = await hintOnName(client, businessUnit);
    if (hint !== undefined) printError(`${hint}\n`);
  }
  return 0;
}

function sayNotBraked(all: Brakes, businessUnit: string, output: Output): void {
  output.printError(`Business unit "${businessUnit}" is not braked: nothing was changed.\n`);
  sayOthers(all, businessUnit, output);
}

function sayOthers({ braked }: Brakes, businessUnit: string, { printError }: Output): void {
  for (const other of braked)
    if (other.businessUnit !== businessUnit) printError(`Also ${printable(sayBrake(other))}.\n`);
}

/** Workers alone know the units; a mistyped one would stop nothing. Never rejects: the brake is set already. */
async function hintOnName(client: Client, businessUnit: string): Promise<string | undefined> {
  try {
    const count = await countFlows(client, `BusinessUnit = ${quoted(businessUnit)}`);
    return count === 0 ? `No flow of business unit "${businessUnit}" is known: is that its name?` : undefined;
  } catch (error) {
    return (
      `It could not be asked whether there are flows of business unit "${businessUnit}" (${printable(messageOf(error))}): ` +
      'see yourself that this is its name.'
    );
  }
}

function listed({ braked, changes }: Brakes): string[] {
  const present = braked.map((brake) => [
    ...[brake.businessUnit, time(brake.since), brakedAt({ braked, changes }, brake)],
    ...[brake.who, stops(brake), brake.why],
  ]);
  const past = changes
    .toReversed()
    .map(({ at, did, businessUnit, who, why }) => [time(at), did, businessUnit, who, why]);
  return [
    ...(present.length === 0
      ? ['No business unit is braked.']
      : table([['BRAKED', 'SINCE (UTC)', 'RELEASE WITH --since', 'WHO', 'STOPS', 'WHY'], ...shown(present)])),
    ...(past.length === 0 ? [] : ['', ...table([['AT (UTC)', 'DID', 'UNIT', 'WHO', 'WHY'], ...shown(past)])]),
  ];
}

function shown(rows: readonly string[][]): string[][] {
  return rows.map((row) => row.map(printable));
}

function stops({ captures, refunds }: BrakeRequest): string {
  const named = [captures === true && 'captures', refunds === true && 'refunds'].filter((each) => each !== false);
  return ['new payments', ...named].join(', ');
}

function sentence(text: string): string {
  return printable(text.charAt(0).toUpperCase() + text.slice(1));
}
