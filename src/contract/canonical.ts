/** A command without who asked, why, and under which id: what makes two requests the same. */
export function canonical(request: object): string {
  const { who: _who, why: _why, commandId: _id, ...asked } = request as Record<string, unknown>;
  return JSON.stringify(Object.entries(asked).sort(([x], [y]) => (x < y ? -1 : 1)));
}
