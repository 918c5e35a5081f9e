import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { show } from '../contract/fields.js';
import { findWeakKeys, parseBusinessUnits, SANDBOX_UNITS, type ParsedUnits } from './business-units.js';
import { configSchema } from './schema.js';
import { sayNotSet } from './variables.js';

const UNITS = 'HOLDFAST_BUSINESS_UNITS';
const UNITS_FILE = 'HOLDFAST_BUSINESS_UNITS_FILE';

type Variables = z.output<typeof configSchema>;

/** The business units from the variable or the file, with every fault of them. `source`: which of both. */
export function readBusinessUnits(
  { businessUnits: inline, businessUnitsFile: file }: Variables['sources'],
  { embedded, environment, apiVersion }: Pick<Variables, 'embedded' | 'environment' | 'apiVersion'>,
  faults: string[],
): ParsedUnits & { source: string } {
  const source = file === undefined ? UNITS : UNITS_FILE;
  let parsed: unknown = SANDBOX_UNITS;
  if (inline !== undefined && file !== undefined) {
    faults.push(`${UNITS} and ${UNITS_FILE} are both set: keep one`);
  } else if (inline !== undefined || file !== undefined) {
    try {
      const text = inline ?? readFileSync(String(file), 'utf8');
      parsed = JSON.parse(text);
      faults.push(...repeatedKeys(text).map((place) => `${source}: ${place} stands there twice: keep one`));
    } catch (error) {
      faults.push(
        error instanceof SyntaxError
          ? // The parser's own message quotes the text, keys included.
            `${source} is not JSON: expected {"default":{"appId":"...","privateKey":"..."}}`
          : `${source}=${show(file)}: the file can't be read (${codeOf(error)})`,
      );
    }
  } else if (!embedded || environment === 'live') {
    faults.push(sayNotSet(configSchema.shape.sources.shape.businessUnits));
  }
  const all = parseBusinessUnits(parsed, apiVersion);
  const weakKeys = environment === 'live' && parsed !== SANDBOX_UNITS ? findWeakKeys(all.readable) : [];
  faults.push(...[...all.faults, ...weakKeys].map((fault) => `${source}: ${fault}`));
  return { ...all, source };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Of JSON: texts, those before a colon as keys, and what opens, parts and closes objects and lists. */
const TOKENS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\],]/g;

/**
 * Where an object has one key twice, such as `eu` or `eu: outgoing`. JSON.parse takes the last without a word: a
 * unit's events would be refused, or its limits not be kept. `text` must be JSON.
 */
function repeatedKeys(text: string): string[] {
  const repeated = new Set<string>();
  const open: { keys: Set<string>; at: string | number }[] = [];
  for (const [token, quoted, colon] of text.matchAll(TOKENS)) {
    const inner = open.at(-1);
    if (token === '{') open.push({ keys: new Set(), at: '' });
    else if (token === '[') open.push({ keys: new Set(), at: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (inner === undefined) continue;
    else if (token === ',' && typeof inner.at === 'number') inner.at += 1;
    else if (quoted !== undefined && colon !== undefined) {
      // Parsed, because a key may be written with escapes.
      const key = String(JSON.parse(quoted));
      inner.at = key;
      const [unit, ...within] = open.map(({ at }) => at);
      if (inner.keys.has(key)) repeated.add([unit, ...(within.length > 0 ? [within.join('.')] : [])].join(': '));
      inner.keys.add(key);
    }
  }
  return [...repeated];
}
