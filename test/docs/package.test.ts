import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const textOf = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

test('the page on the package shows the checkout as it is tested', () => {
  expect(textOf('package.md')).toContain(`\`\`\`ts\n${textOf('examples/shop/checkout.ts')}\`\`\`\n`);
});
