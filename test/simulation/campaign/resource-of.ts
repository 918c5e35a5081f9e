const ID = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{24,}|pay.*)$/;

/** The path of a request without its ids and its query: `/payments/*` + `/charges`. */
export function resourceOf(path: string): string {
  return path
    .split('?', 1)[0]!
    .split('/')
    .map((part) => (ID.test(part) && part !== 'payments' && part !== 'payment-methods' ? '*' : part))
    .join('/');
}
