import { API, NodeBuilderFlags, SymbolFlags } from 'typescript/unstable/sync';

const FLAGS =
  NodeBuilderFlags.NoTruncation |
  NodeBuilderFlags.UseAliasDefinedOutsideCurrentScope |
  NodeBuilderFlags.UseSingleQuotesForStringLiteralType;

/**
 * Writes out the interfaces of a declaration file by these names, with all fields, inherited and computed ones included.
 * Only the compiler knows the fields that an interface has from a schema. Its interface for programs may change with its
 * version, which package.json therefore pins.
 */
export function resolveFields(file: string, names: ReadonlySet<string>): ReadonlyMap<string, string> {
  if (names.size === 0) return new Map();
  const api = new API();
  try {
    const project = api.updateSnapshot({ openFiles: [file] }).getDefaultProjectForFile(file);
    const source = project?.program.getSourceFile(file);
    const module = source && project?.checker.getSymbolAtLocation(source);
    if (project === undefined || module === undefined) throw new Error(`The compiler can't read ${file}`);
    const { checker } = project;
    const found = checker.getExportsOfModule(module).filter(({ name }) => names.has(name));
    return new Map(
      found.map((symbol) => {
        const declared = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
        const fields = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(declared)).map((field) => {
          const type = checker.getTypeOfSymbol(field);
          const text = type === undefined ? 'unknown' : checker.typeToString(type, undefined, FLAGS);
          const isOptional = (field.flags & SymbolFlags.Optional) !== 0;
          return isOptional ? `${field.name}?: ${text.replace(/ \| undefined$/, '')};` : `${field.name}: ${text};`;
        });
        return [symbol.name, `interface ${symbol.name} {\n${fields.join('\n')}\n}`];
      }),
    );
  } finally {
    api.close();
  }
}
