import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { z } from 'zod';
import { resolveFields } from './resolved-fields.js';

/** A declaration of a `.d.ts` file in `dist/`. */
interface Declared {
  file: string;
  name: string;
}
interface DeclarationFile {
  /** Texts by name, without comments. */
  declarations: Map<string, string>;
  /** Names of the errors that the comments of a declaration say it throws. */
  thrown: Map<string, string[]>;
  /** Declarations imported from other files of the project, by their local name. */
  imports: Map<string, Declared>;
  /** By exported name. */
  exports: Map<string, Declared>;
}

/** Types that an export may name although its entry does not export them, with the reason. */
const NOT_EXPORTED: Readonly<Record<string, string>> = {
  ApplicationFailure: 'of the package @temporalio/common',
  ChildWorkflowFailure: 'of the package @temporalio/common',
  Compact: 'part of FieldsOf',
  FieldsOf: "computes an answer's fields from its schema; the type of each answer is exported",
  Flat: 'part of FieldsOf',
  NamedArguments: 'part of MethodOf, which is exported',
  OptionalKeys: 'part of FieldsOf',
  PathArguments: 'part of MethodOf, which is exported',
  RequestArgument: 'part of MethodOf, which is exported',
  ZodError: 'of the package zod',
};

const COMMENT = /^ *\/\*\*[^]*?\*\/\n/gm;

const files = new Map<string, DeclarationFile>();

/** The compiler puts only the start of a statement, or its closing brace, in the first column. */
function readDeclarations(file: string): DeclarationFile {
  const known = files.get(file);
  if (known !== undefined) return known;
  const read: DeclarationFile = {
    declarations: new Map(),
    thrown: new Map(),
    imports: new Map(),
    exports: new Map(),
  };
  files.set(file, read);
  // A comment moves behind the line that it is about, so that it stays with its statement.
  const text = readFileSync(file, 'utf8').replaceAll(/^( *\/\*\*[^]*?\*\/)\n(.*\n)/gm, '$2$1\n');
  for (const statement of text.split(/^(?=[a-z])/m)) readStatement(statement, file, read);
  return read;
}

function readStatement(withComments: string, file: string, read: DeclarationFile): void {
  const statement = withComments.replaceAll(COMMENT, '').trim();
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
  const thrown = [...withComments.matchAll(/@throws (\w+)/g)].map(([, error = '']) => error);
  read.thrown.set(name, [...(read.thrown.get(name) ?? []), ...thrown]);
  if (isExported !== undefined) read.exports.set(name, { file, name });
}

/** Finds the file that declares an exported name. */
function findDeclared(file: string, name: string): Declared {
  return readDeclarations(file).exports.get(name) ?? { file, name };
}

/** A type by the file that declares it, as the compiler writes inferred types. */
const BY_FILE = /\bimport\(["'](\.[^"']*)\.js["']\)\.(\w+)/g;

function textOf({ file, name }: Declared): string {
  const text = readDeclarations(file).declarations.get(name);
  if (text === undefined) throw new Error(`${file} declares no ${name}`);
  // The type argument of a schema is left out: docs/schemas shows what it accepts.
  return text.replace(/\b(SharedSchema|Zod\w+)<[^]*>;$/, '$1<unknown>;');
}

/** The project's declarations that a declaration refers to, except schemas (after `typeof`): see docs/schemas. */
function referencesOf(declared: Declared): Declared[] {
  const { imports, declarations } = readDeclarations(declared.file);
  const text = textOf(declared);
  const byFile = [...text.matchAll(BY_FILE)].map(([, path = '', name = '']) =>
    findDeclared(resolve(dirname(declared.file), `${path}.d.ts`), name),
  );
  const words = text.replaceAll(BY_FILE, '').replaceAll(/'[^'\n]*'|"[^"\n]*"|\btypeof \w+/g, '');
  const byName = [...new Set(words.match(/\b[A-Z]\w*/g) ?? [])].flatMap((name) => {
    const found = imports.get(name) ?? (declarations.has(name) ? { file: declared.file, name } : undefined);
    return found === undefined || name === declared.name ? [] : [found];
  });
  return [...byFile, ...byName];
}

const keyOf = ({ file, name }: Declared) => `${file}#${name}`;

interface Unexported extends Declared {
  /** The declaration that names it. */
  namedBy: string;
}

/** Declarations that the declarations of `from` use but their entry doesn't export. */
function findUnexported(
  exported: ReadonlyMap<string, Declared>,
  from: Iterable<Declared> = exported.values(),
): Unexported[] {
  const seen = new Set([...exported.values()].map(keyOf));
  const unexported: Unexported[] = [];
  const open = [...from];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const reference of referencesOf(next)) {
      if (seen.has(keyOf(reference))) continue;
      seen.add(keyOf(reference));
      unexported.push({ ...reference, namedBy: next.name });
      open.push(reference);
    }
  }
  return unexported;
}

/** Errors that an exported declaration says it throws, and that a caller can't import from the entry. */
function findUnexportedErrors(exported: ReadonlyMap<string, Declared>): Pick<Unexported, 'name' | 'namedBy'>[] {
  return [...exported.values()].flatMap((declared) =>
    (readDeclarations(declared.file).thrown.get(declared.name) ?? [])
      .filter((name) => !exported.has(name) && !(name in globalThis))
      .map((name) => ({ name, namedBy: declared.name })),
  );
}

/**
 * Says which types a caller of the entry would need and can't import, neither from it nor from `main`, the package's
 * main entry.
 */
export function findFaults(title: string, entry: string, main?: string): string[] {
  const { exports } = readDeclarations(entry);
  const inMain = main === undefined || main === entry ? new Map<string, Declared>() : readDeclarations(main).exports;
  return [...findUnexported(exports), ...findUnexportedErrors(exports)]
    .filter(({ name }) => !Object.hasOwn(NOT_EXPORTED, name) && !inMain.has(name))
    .map(({ name, namedBy }) => `${title} does not export ${name}, which ${namedBy} names`);
}

/** Whether an interface gets its fields from a schema. */
function isComputed(declared: Declared): boolean {
  return /^export interface \w+ extends [^{]*<typeof /.test(textOf(declared));
}

/**
 * Renders one entry of the package: its exports sorted by name, then the declarations they use that are not exported.
 * Exports that `main`, the package's main entry, has too are listed by name only. Interfaces that are computed from
 * schemas are shown with the fields that they have.
 */
export async function renderReport(title: string, entry: string, main: string): Promise<string> {
  const inMain = new Set(entry === main ? [] : [...readDeclarations(main).exports.values()].map(keyOf));
  const { exports } = readDeclarations(entry);
  const own = [...exports.values()].filter((declared) => !inMain.has(keyOf(declared)));
  const shared = [...exports.values()].filter((declared) => inMain.has(keyOf(declared)));
  const computed = own.filter(isComputed);
  const shown = own.filter((declared) => !computed.includes(declared));
  const fields = resolveFields(entry, new Set(computed.map(({ name }) => name)));
  const unexported = findUnexported(exports, shown).filter((declared) => !inMain.has(keyOf(declared)));
  const page = [
    `# ${title}`,
    'Written by `npm run api`.',
    renderTexts(own, fields),
    ...(unexported.length === 0 ? [] : ['Named above and not exported:', renderTexts(unexported)]),
    ...(shared.length === 0 ? [] : ['As [holdfast](index.md) does, it exports:', renderNames(shared)]),
  ].join('\n\n');
  return await format(page, { parser: 'markdown', printWidth: 120, singleQuote: true });
}

/** Takes the text of a declaration from `texts`, or else from its file. */
function renderTexts(declared: readonly Declared[], texts: ReadonlyMap<string, string> = new Map()): string {
  const rendered = sortByName(declared).map((one) =>
    (texts.get(one.name) ?? textOf(one)).replaceAll(BY_FILE, '$2').replaceAll(/^(export )?(declare )?/gm, ''),
  );
  return `\`\`\`ts\n${rendered.join('\n\n')}\n\`\`\``;
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
    const title = join('holdfast', entry);
    for (const fault of findFaults(title, join(root, target.types), join(root, mainEntry))) {
      process.stderr.write(`${fault}: export it there\n`);
      process.exitCode = 1;
    }
    const report = await renderReport(title, join(root, target.types), join(root, mainEntry));
    if (existsSync(path) && readFileSync(path, 'utf8') === report) continue;
    if (process.argv.includes('--check')) {
      process.stderr.write(`${relative(root, path)} is not what the package exports: run npm run api\n`);
      process.exitCode = 1;
    } else writeFileSync(path, report);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
