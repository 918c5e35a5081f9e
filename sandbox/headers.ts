import type { IncomingHttpHeaders } from 'node:http';
import { invalidRequest, notAuthenticated } from './api-error.js';
import type { Sandbox } from './context.js';
import type { BusinessUnit, Environment } from './records.js';
import { versionRules, type VersionRules } from './versions.js';

/** Reads a header by its name or its name with underscores: the service accepts both. */
export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name] ?? headers[name.replaceAll('-', '_')];
  return Array.isArray(value) ? value[0] : value;
}

/** Checks content type, accept and version. One answer names all faults, in the documented order. */
export function checkHeaders(headers: IncomingHttpHeaders, hasBody: boolean): VersionRules {
  const faults = [...(hasBody ? contentTypeFaults(header(headers, 'content-type')) : [])];
  if (!accepts(header(headers, 'accept'))) faults.push('accept should be */* or application/json');
  const rules = versionRules(header(headers, 'api-version'));
  if (rules === undefined) faults.push('API version is not supported');
  if (rules === undefined || faults.length > 0) throw invalidRequest(faults.join(','));
  return rules;
}

/** A missing or unknown value means live. */
export function environmentOf(headers: IncomingHttpHeaders): Environment {
  return header(headers, 'x-svc-env') === 'test' ? 'test' : 'live';
}

/** Returns the business unit with the headers' app id and private key. */
export function authenticate(sandbox: Sandbox, headers: IncomingHttpHeaders): BusinessUnit {
  const appId = header(headers, 'app-id');
  const privateKey = header(headers, 'private-key');
  const missing = [
    ...(appId === undefined ? ['Missing app_id header'] : []),
    ...(privateKey === undefined ? ['Missing private_key header'] : []),
  ];
  if (missing.length > 0) throw invalidRequest(missing.join(','));
  const unit = sandbox.store.units.get(appId ?? '');
  if (unit === undefined || unit.privateKey !== privateKey) throw notAuthenticated();
  return unit;
}

/** Authenticates a tokenisation by a browser, which knows the public key only; the app id is optional. */
export function authenticatePublic(sandbox: Sandbox, headers: IncomingHttpHeaders): BusinessUnit {
  const publicKey = header(headers, 'public-key');
  if (publicKey === undefined) throw invalidRequest('Missing public_key header');
  const appId = header(headers, 'app-id');
  for (const unit of sandbox.store.units.values()) {
    if (unit.publicKey === publicKey && (appId === undefined || appId === unit.appId)) return unit;
  }
  throw notAuthenticated();
}

function contentTypeFaults(contentType: string | undefined): string[] {
  if (contentType === undefined) return ['content-type is missing and should be application/json'];
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length);
  return [
    ...(type === 'application/json' ? [] : ['content-type should be application/json']),
    ...(charset === undefined || charset.replaceAll('"', '') === 'utf-8'
      ? []
      : ['content-type charset should be utf-8']),
  ];
}

function accepts(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  const types = accept.split(',').map((part) => (part.split(';')[0] ?? '').trim());
  return types.some((type) => type === '*/*' || type === 'application/json');
}
