import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe as group, expect, test } from 'vitest';
import { loadCodecConfig, SECRET_FILES } from '../../src/config/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { key, faultsOf } from './support.js';

group('loadCodecConfig', () => {
  test('needs no credentials of the payment service, but a key, a token and a capability', () => {
    const faults = faultsOf(() => loadCodecConfig({ HOLDFAST_STATE_DIR: temporaryFolder() }));
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'HOLDFAST_ENCRYPTION_KEYS',
      'HOLDFAST_CODEC_TOKEN',
      'HOLDFAST_CODEC_UI_CAPABILITY',
    ]);
  });

  test('takes its secrets from files of the state directory, and refuses one that is too short or that others can read', () => {
    const stateDir = temporaryFolder();
    const file = (name: keyof typeof SECRET_FILES, text: string, mode: number) => {
      mkdirSync(join(stateDir, 'keys'), { recursive: true });
      writeFileSync(join(stateDir, SECRET_FILES[name]), text);
      chmodSync(join(stateDir, SECRET_FILES[name]), mode);
    };
    const load = () => loadCodecConfig({ HOLDFAST_ENCRYPTION_KEYS: `k1:${key(1)}`, HOLDFAST_STATE_DIR: stateDir });
    file('codecToken', 'token-token-token\n', 0o600);
    file('codecUiCapability', 'c'.repeat(30), 0o600);
    expect(load()).toMatchObject({ codecToken: 'token-token-token', codecUiCapability: 'c'.repeat(30) });
    file('codecToken', 'hunter2', 0o600);
    file('codecUiCapability', 'c'.repeat(30), 0o644);
    const faults = faultsOf(load);
    expect(faults).toEqual([
      expect.stringMatching(
        /^HOLDFAST_CODEC_TOKEN is not set and .*codec-token can't be used: give 16-500 visible ASCII/,
      ),
      expect.stringMatching(/codec-ui-capability is open to other users/),
    ]);
    expect(faults.join()).not.toContain('hunter2');
  });

  test('refuses secrets that are too short and origins that no browser would send, without showing a secret', () => {
    const faults = faultsOf(() =>
      loadCodecConfig({
        HOLDFAST_ENCRYPTION_KEYS: `k1:${key(1)}`,
        HOLDFAST_CODEC_TOKEN: 'hunter2',
        HOLDFAST_CODEC_UI_CAPABILITY: 'hunter2/hunter2/hunter2',
        HOLDFAST_UI_ORIGINS: 'http://127.0.0.1:8233,*,http://ui.example/,ui.example,',
      }),
    );
    expect(faults).toHaveLength(6);
    expect(faults.join()).not.toContain('hunter2');
  });

  test('refuses one text as token and as capability: only the token may encrypt what flows trust', () => {
    const same = 'hunter2_hunter2_hunter2';
    const both = { HOLDFAST_CODEC_TOKEN: same, HOLDFAST_CODEC_UI_CAPABILITY: same };
    const load = (env: NodeJS.ProcessEnv) => loadCodecConfig({ HOLDFAST_ENCRYPTION_KEYS: `k1:${key(1)}`, ...env });
    const faults = faultsOf(() => load(both));
    expect(faults).toEqual([
      expect.stringMatching(/^HOLDFAST_CODEC_TOKEN and HOLDFAST_CODEC_UI_CAPABILITY are the same/),
    ]);
    expect(faults.join()).not.toContain(same);
    const stateDir = temporaryFolder();
    mkdirSync(join(stateDir, 'keys'));
    writeFileSync(join(stateDir, SECRET_FILES.codecUiCapability), `${same}\n`, { mode: 0o600 });
    const fromFile = { HOLDFAST_CODEC_TOKEN: same, HOLDFAST_STATE_DIR: stateDir };
    expect(faultsOf(() => load(fromFile))).toEqual(faults);
    expect(faultsOf(() => load({ ...fromFile, HOLDFAST_CODEC_TOKEN: `${same}_` }))).toEqual([]);
  });
});
