/** Cards that the sandbox's mock provider knows. The page offers no other: a real number must not be typed in. */
export const MOCK_CARDS = [
  { number: '4111111111111111', text: 'Visa 1111: succeeds' },
  { number: '4242424242424242', text: 'Visa 4242: fails, asked again, declined' },
  { number: '4000000000000077', text: 'Visa 0077: pends 10 s, then succeeds' },
  { number: '4000000400000008', text: 'Visa 0008: pends 10 s, then is declined' },
] as const;
