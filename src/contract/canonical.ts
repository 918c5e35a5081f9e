/** A command without who, why and commandId. Two requests with the same text are the same request. */
export function canonical(request: object): string {
  const { who: _who, why: _why, commandId: _id, ...asked } = request as Record<string, unknown>;
  return JSON.stringify(Object.entries(asked).sort(([x], [y]) => (x < y ? -1 : 1)));
}
