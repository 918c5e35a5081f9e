import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';

const { executeFlow } = vi.hoisted(() => ({ executeFlow: vi.fn() }));
vi.mock('holdfast/workflows', () => ({ executeFlow }));
vi.mock('@temporalio/workflow', () => ({
  proxyActivities: () => ({ ship: (id: string) => Promise.resolve(`shipped ${id}`) }),
}));

const textOf = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

test('the page on the package shows the checkout as it is tested', () => {
  expect(textOf('package.md')).toContain(`\`\`\`ts\n${textOf('examples/shop/checkout.ts')}\`\`\`\n`);
});

test('the page on the package shows the workflow that pays as it is tested', () => {
  const [, order] = textOf('examples/shop/workflows.ts').split(
    '/** A workflow of the shop, which pays by a flow of Holdfast. */\n',
  );
  expect(textOf('package.md')).toContain(`import { executeFlow } from 'holdfast/workflows';\n\n${order}\`\`\`\n`);
});

test.each([
  [{ status: 'succeeded' }, 'shipped order-7'],
  [{ status: 'declined', confirmed: true }, 'not paid: declined'],
  [{ status: 'declined', confirmed: false }, 'not known: a person has to look'],
  [{ status: 'notExecuted' }, 'not paid: notExecuted'],
])('the workflow that pays says of %o: %s', async (outcome, said) => {
  const { order } = await import('../../docs/examples/shop/workflows.js');
  executeFlow.mockResolvedValueOnce(outcome);
  await expect(order('order-7', 1999, 'token')).resolves.toBe(said);
});
