const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const GROUP = /^[0-9a-fA-F]{1,4}$/;

/**
 * True for an IPv4 or IPv6 address as text, without zone. By hand because flows check it too: Node's own
 * check does not exist there, and zod's takes no IPv6 address that ends in an IPv4 one.
 */
export function isIpAddress(text: string): boolean {
  if (!text.includes(':')) return IPV4.test(text);
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const endsInIpv4 = last.includes('.') && halves.at(-1) !== '';
  if (endsInIpv4 && !IPV4.test(last)) return false;
  const hex = endsInIpv4 ? groups.slice(0, -1) : groups;
  const width = hex.length + (endsInIpv4 ? 2 : 0);
  return hex.every((group) => GROUP.test(group)) && (halves.length === 2 ? width <= 7 : width === 8);
}
