import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { z } from 'zod';
import { unitFields, unitSchema } from '../src/config/business-units.js';
import { codecSchema, configSchema, settingsSchema } from '../src/config/schema.js';
import { leavesOf, variableOf } from '../src/config/variables.js';

/** Renders docs/configuration.md with its tables of variables and of business unit fields from the current schemas. */
export async function renderPage(page: string): Promise<string> {
  const variables = replaceTable(page, ['Variable', 'Default', 'Read by', 'Meaning'], variableRows());
  const all = replaceTable(variables, ['Field', 'Default', 'Meaning'], unitRows());
  return await format(all, { parser: 'markdown', printWidth: 120 });
}

function replaceTable(page: string, header: readonly string[], rows: readonly string[][]): string {
  const table = new RegExp(`^\\| *${header.join(' *\\| *')} *\\|\\n(?:\\|.*\\n)*`, 'm');
  if (!table.test(page)) throw new Error(`The page has no table of ${header.join(', ')}`);
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return page.replace(table, () => lines.join(''));
}

/** Variables that every process reads come last. */
function variableRows(): string[][] {
  const shared = leavesOf(settingsSchema);
  const own = [...leavesOf(configSchema), ...leavesOf(codecSchema)].filter((schema) => !shared.includes(schema));
  return [...new Set([...own, ...shared])].map((schema) => {
    const { name, readBy, description, default: text } = variableOf(schema);
    return [`\`${name}\``, text ?? defaultOf(schema), readBy, description];
  });
}

/** Omits `appId` and `privateKey`, which the example above the table shows. */
function unitRows(): string[][] {
  return Object.entries(unitSchema.shape).flatMap(([name, schema]) => {
    const field = unitFields.get(schema);
    return field === undefined ? [] : [[`\`${name}\``, field.default ?? defaultOf(schema), field.description]];
  });
}

function defaultOf(schema: z.core.$ZodType): string {
  if (!(schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault)) return '';
  const value = String(schema.def.defaultValue);
  return value === '' ? '' : `\`${value}\``;
}

async function main(): Promise<void> {
  const above = ['..', '../..'].map((up) => fileURLToPath(new URL(up, import.meta.url)));
  const root = above.find((folder) => existsSync(join(folder, 'package.json'))) ?? '';
  const path = join(root, 'docs', 'configuration.md');
  writeFileSync(path, await renderPage(readFileSync(path, 'utf8')));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
