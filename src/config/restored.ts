import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { show } from '../contract/fields.js';
import { type LostTime, parseLostTime } from '../domain/lost-time.js';
import { parseStatement, type Statement, whyNotCovered } from '../domain/statement.js';
import { variables } from './variables.js';

export const restoredTo = z
  .string()
  .transform((text, context) => {
    const parsed = parseLostTime(text, Date.now());
    if ('lost' in parsed) return parsed.lost;
    for (const message of parsed.faults) context.issues.push({ code: 'custom', message, input: text });
    return z.NEVER;
  })
  .exactOptional()
  .register(variables, {
    name: 'HOLDFAST_RESTORED_TO',
    readBy: 'worker, webhook',
    description:
      "`<from>,<until>`, two instants: Temporal's database was restored, and what was done between them is lost. Every worker and webhook handler needs it before it starts ([disaster.md](disaster.md))",
    absent: 'nothing was restored',
  });

const STATEMENT_FILE = 'HOLDFAST_RESTORED_STATEMENT_FILE';
export const restoredStatementFile = z.string().exactOptional().register(variables, {
  name: STATEMENT_FILE,
  readBy: 'worker',
  description:
    "The payment service's statement of the lost time. From 20 h after `<from>` no worker bills without it ([disaster.md](disaster.md#the-statement))",
});

/** The statement of the lost time, with every fault of it. */
export function readStatement(
  file: string | undefined,
  lost: LostTime | undefined,
  faults: string[],
): Statement | undefined {
  if (file === undefined) return undefined;
  if (lost === undefined) {
    const isFaulty = faults.some((fault) => fault.startsWith('HOLDFAST_RESTORED_TO='));
    if (!isFaulty)
      faults.push(`${STATEMENT_FILE} is set without HOLDFAST_RESTORED_TO: say which time was lost, or unset it`);
    return undefined;
  }
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (error) {
    faults.push(
      `${STATEMENT_FILE}=${show(file)}: the file can't be read (${String((error as NodeJS.ErrnoException).code)})`,
    );
    return undefined;
  }
  const parsed = parseStatement(source, Date.now());
  const why = 'faults' in parsed ? parsed.faults : [whyNotCovered(parsed.statement, lost)];
  faults.push(...why.filter((fault) => fault !== undefined).map((fault) => `${STATEMENT_FILE}: ${fault}`));
  return 'statement' in parsed ? parsed.statement : undefined;
}
