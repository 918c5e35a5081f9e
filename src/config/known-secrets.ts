import type { KeyRing } from '../security/key-ring.js';
import { EMBEDDED_NOTIFY_SECRET } from './schema.js';

/**
 * Secrets that stand in this repository, in `deploy/demo.env` or in `npm start`: anybody could read histories with them,
 * or sign as a merchant's Holdfast. Those of the sandbox's business units are found by `findWeakKeys`.
 */
export const DEMO_SECRETS = {
  encryptionKey: 'aG9sZGZhc3QtZGVtby1rZXktdGhhdC1hbGwta25vdyE=',
  codecToken: 'holdfast-demo-codec-token',
  codecUiCapability: 'holdfast-demo-codec-capability',
  notifySecret: 'whsec_aG9sZGZhc3QtZGVtby1ub3RpZnktc2VjcmV0',
} as const;

interface Secrets {
  keyRing: KeyRing | undefined;
  /** By where they come from. */
  notifySecrets?: readonly { place: string; secret: string }[] | undefined;
  codecToken?: string | undefined;
  codecUiCapability?: string | undefined;
}

const HEX = '$(openssl rand -hex 32)';
const say = (what: string, where: string, command: string): string =>
  `${what}: is that of ${where}, which everybody knows; HOLDFAST_ENVIRONMENT="live" takes one of your own: ${command}`;

/** Faults of a process for live money: each names the variable, where its value comes from, and how to make another. */
export function findKnownSecrets(secrets: Secrets): string[] {
  const { keyRing } = secrets;
  const isKnown = (id: string) => keyRing?.find(id)?.export().toString('base64') === DEMO_SECRETS.encryptionKey;
  const keys = (keyRing?.ids ?? [])
    .filter(isKnown)
    .map((id) => say(`HOLDFAST_ENCRYPTION_KEYS: key "${id}"`, 'deploy/demo.env', 'k1:$(openssl rand -base64 32)'));
  const others = (
    [
      ['HOLDFAST_CODEC_TOKEN', secrets.codecToken, DEMO_SECRETS.codecToken, 'deploy/demo.env'],
      ['HOLDFAST_CODEC_UI_CAPABILITY', secrets.codecUiCapability, DEMO_SECRETS.codecUiCapability, 'deploy/demo.env'],
    ] as const
  ).flatMap(([name, given, known, where]) => (given === known ? [say(name, where, HEX)] : []));
  return [...keys, ...others, ...(secrets.notifySecrets ?? []).flatMap(knownNotifySecret)];
}

function knownNotifySecret({ place, secret }: { place: string; secret: string }): string[] {
  const where = { [DEMO_SECRETS.notifySecret]: 'deploy/demo.env', [EMBEDDED_NOTIFY_SECRET]: 'npm start' }[secret];
  return where === undefined ? [] : [say(place, where, 'whsec_$(openssl rand -base64 32)')];
}
