import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { DEFAULT_PROFILE } from '../../sandbox/business-units.js';
import { FAILING_CARD, PENDING_THEN_FAILED, PENDING_THEN_SUCCEED, startTestSandbox } from './support/sandbox.js';

const page = readFileSync('docs/sandbox.md', 'utf8');
const examples = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1] ?? '');
const hasCurl = spawnSync('curl', ['--version']).status === 0;

(hasCurl ? test : test.skip)('every curl example of the documentation works as it stands, in order', async () => {
  const sandbox = await startTestSandbox();
  try {
    const address = 'SANDBOX=http://127.0.0.1:4010';
    expect(examples.join('')).toContain(address);
    // Marks between the examples show which one produced what.
    const script = examples.map((example, index) => `echo '@@${index}'\n${example}`).join('\n');
    const runnable = `set -euo pipefail\n${script.replace(address, `SANDBOX=${sandbox.url}`)}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', runnable], { maxBuffer: 10_000_000 });
    const outputs = stdout.split(/@@\d+\n/).slice(1);
    expect(outputs).toHaveLength(examples.length);
    const outputOf = (text: string) => outputs[examples.findIndex((example) => example.includes(text))] ?? '';
    expect(outputOf('demo-charge')).toContain('"status":"Succeed"');
    const [entry] = JSON.parse(outputOf('/sandbox/ledger')) as Record<string, unknown>[];
    const shown = JSON.parse(/^```json\n([^]*?)^```$/m.exec(page)?.[1] ?? '') as Record<string, unknown>[];
    expect(Object.keys(entry ?? {})).toEqual(Object.keys(shown[0] ?? {}));
    expect(outputOf('CAPTURE=').trimEnd()).toMatch(/Refunded$/);
    expect(outputOf('/voids')).toContain('Canceled.');
    expect(outputOf('CUSTOMER=')).toContain('"customer_reference":"ada"');
    expect(outputOf('/decide').trimEnd()).toMatch(/approve$/);
    expect(outputOf('/openapi.json').trim()).toBe('1.3.0');
    expect(outputOf('/complete')).toContain('insufficient_funds');
    expect(outputOf('/resend')).toContain('payment.payment.create');
    expect(JSON.parse(outputOf('/sandbox/reset'))).toMatchObject({ payments: 0, clock_offset_ms: 0 });
  } finally {
    await sandbox.close();
  }
});

test('the documentation names every profile option, fault action, setting and kind of trigger', () => {
  const schema = readFileSync('sandbox/faults.ts', 'utf8');
  const actions = [...schema.matchAll(/^ {2}(\w+): \{.*\},$/gm)].map((match) => match[1] ?? '');
  const settings = readFileSync('sandbox/settings.ts', 'utf8').match(/HOLDFAST_\w+(?=:)/g) ?? [];
  expect(actions).toContain('drop_reply');
  expect(settings).toContain('HOLDFAST_SANDBOX_PORT');
  const names = [...Object.keys(DEFAULT_PROFILE), ...actions, ...settings];
  for (const name of [...names, FAILING_CARD, PENDING_THEN_FAILED, PENDING_THEN_SUCCEED]) expect(page).toContain(name);
});
