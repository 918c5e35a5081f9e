import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in constant time for any length of the guess. An empty secret matches nothing. */
export function secretMatcher(secret: string): (guess: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(secret);
  return (guess) => timingSafeEqual(digest(guess), expected) && secret !== '';
}
