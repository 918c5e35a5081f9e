import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { z } from 'zod';

/** A declaration of a `.d.ts` file in `dist/`. */
interface Declared {
  file: string;
  name: string;
}
interface DeclarationFile {
  /** Texts by name, without comments. */
  declarations: Map<string, string>;
  /** Declarations imported from other files of the project, by their local name. */
  imports: Map<string, Declared>;
  /** By exported name. */
  exports: Map<string, Declared>;
}

const files = new Map<string, DeclarationFile>();

/** The compiler puts only the start of a statement, or its closing brace, in the first column. */
function readDeclarations(file: string): DeclarationFile {
  const known = files.get(file);
  if (known !== undefined) return known;
  const read: DeclarationFile = { declarations: new Map(), imports: new Map(), exports: new Map() };
  files.set(file, read);
  const text = readFileSync(file, 'utf8').replaceAll(/^ *\/\*\*[^]*?\*\/\n/gm, '');
  for (const statement of text.split(/^(?=[a-z])/m)) readStatement(statement.trim(), file, read);
  return read;
}

function readStatement(statement: string, file: string, read: DeclarationFile): void {
  const [, verb, list, from] =
    /^(import|export) (?:type )?(\*|\{[^]*\})(?: from ["'](.*)["'])?;$/.exec(statement) ?? [];
  if (verb !== undefined && list !== undefined) {
    if (from !== undefined && !from.startsWith('.')) return;
    const source = from === undefined ? file : resolve(dirname(file), from.replace(/\.js$/, '.d.ts'));
    const target = verb === 'import' ? read.imports : read.exports;
    if (list === '*') {
      for (const [name, declared] of readDeclarations(source).exports) target.set(name, declared);
    }
    for (const [, name = '', alias = name] of list.matchAll(/(?:type )?\b(\w+)(?: as (\w+))?/g)) {
      target.set(alias, findDeclared(source, name));
    }
    return;
  }
  const pattern = /^(export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|enum) (\w+)/;
  const [, isExported, name] = pattern.exec(statement) ?? [];
  if (name === undefined) return;
  const earlier = read.declarations.get(name);
  read.declarations.set(name, earlier === undefined ? statement : `${earlier}\n${statement}`);
  if (isExported !== undefined) read.exports.set(name, { file, name });
}

/** Finds the file that declares an exported name. */
function findDeclared(file: string, name: string): Declared {
  return readDeclarations(file).exports.get(name) ?? { file, name };
}

function textOf({ file, name }: Declared): string {
  const text = readDeclarations(file).declarations.get(name);
  if (text === undefined) throw new Error(`${file} declares no ${name}`);
  // The type argument of a schema is left out: docs/schemas shows what it accepts.
  return text.replace(/\b(SharedSchema|Zod\w+)<[^]*>;$/, '$1<unknown>;');
}

/** The project's declarations that a declaration refers to, except schemas (after `typeof`): see docs/schemas. */
function referencesOf(declared: Declared): Declared[] {
  const { imports, declarations } = readDeclarations(declared.file);
  const text = textOf(declared).replaceAll(/'[^'\n]*'|"[^"\n]*"|\btypeof \w+/g, '');
  return [...new Set(text.match(/\b[A-Z]\w*/g) ?? [])].flatMap((name) => {
    const found = imports.get(name) ?? (declarations.has(name) ? { file: declared.file, name } : undefined);
    return found === undefined || name === declared.name ? [] : [found];
  });
}

const keyOf = ({ file, name }: Declared) => `${file}#${name}`;

/** Declarations that an exported declaration uses but the package doesn't export. */
function findUnnamed(exported: ReadonlyMap<string, Declared>): Declared[] {
  const seen = new Set([...exported.values()].map(keyOf));
  const unnamed: Declared[] = [];
  const open = [...exported.values()];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const reference of referencesOf(next)) {
      if (seen.has(keyOf(reference))) continue;
      seen.add(keyOf(reference));
      unnamed.push(reference);
      open.push(reference);
    }
  }
  return unnamed;
}

/**
 * Renders one entry of the package: its exports sorted by name, then the declarations they use that are not exported.
 * Exports that `main`, the package's main entry, has too are listed by name only.
 */
export async function renderReport(title: string, entry: string, main: string): Promise<string> {
  const inMain = new Set(entry === main ? [] : [...readDeclarations(main).exports.values()].map(keyOf));
  const { exports } = readDeclarations(entry);
  const own = [...exports.values()].filter((declared) => !inMain.has(keyOf(declared)));
  const shared = [...exports.values()].filter((declared) => inMain.has(keyOf(declared)));
  const unnamed = findUnnamed(exports).filter((declared) => !inMain.has(keyOf(declared)));
  const page = [
    `# ${title}`,
    'Written by `npm run api`.',
    renderTexts(own),
    ...(unnamed.length === 0 ? [] : ['Named above and not exported:', renderTexts(unnamed)]),
    ...(shared.length === 0 ? [] : ['As [holdfast](index.md) does, it exports:', renderNames(shared)]),
  ].join('\n\n');
  return await format(page, { parser: 'markdown', printWidth: 120, singleQuote: true });
}

function renderTexts(declared: readonly Declared[]): string {
  const texts = sortByName(declared).map((one) => textOf(one).replace(/^(export )?(declare )?/gm, ''));
  return `\`\`\`ts\n${texts.join('\n\n')}\n\`\`\``;
}

function renderNames(declared: readonly Declared[]): string {
  return `${sortByName(declared)
    .map(({ name }) => `\`${name}\``)
    .join(', ')}.`;
}

function sortByName(declared: readonly Declared[]): Declared[] {
  return declared.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

const packageSchema = z.object({
  exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])),
});

async function main(): Promise<void> {
  const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
  const { exports } = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const mainEntry = z.object({ types: z.string() }).parse(exports['.']).types;
  const folder = join(root, 'docs', 'api');
  mkdirSync(folder, { recursive: true });
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    const path = join(folder, `${entry === '.' ? 'index' : entry.slice(2)}.md`);
    const report = await renderReport(join('holdfast', entry), join(root, target.types), join(root, mainEntry));
    if (existsSync(path) && readFileSync(path, 'utf8') === report) continue;
    if (process.argv.includes('--check')) {
      process.stderr.write(`${relative(root, path)} is not what the package exports: run npm run api\n`);
      process.exitCode = 1;
    } else writeFileSync(path, report);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
