/** Whether `text` fits `pattern`, in which `*` stands for any run of characters, slashes included. */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts[parts.length - 1] ?? '';
  if (parts.length === 1) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  // For the parts in between, the leftmost match always suffices.
  let position = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position <= text.length - last.length;
}
