/** Words of a query of lists. */
export function oneOf(attribute: string, values: readonly string[]): string {
  return `${attribute} IN (${values.map(quoted).join(', ')})`;
}

export function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
