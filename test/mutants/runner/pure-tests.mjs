/** Folders whose tests run on the sources alone. */
const PURE_FOLDERS = ['contract', 'domain', 'activities', 'provider', 'security', 'webhook', 'client'];
/** Files of these that need an engine, or what is built, all the same. */
const NEED_MORE = [
  'test/activities/proof-in-engine.test.ts',
  'test/activities/refund-by-engine.test.ts',
  'test/webhook/event-sink.test.ts',
  'test/webhook/mounted.test.ts',
  'test/webhook/process.test.ts',
  'test/webhook/traces.test.ts',
];

/** Whether a test file needs neither a server nor `dist/`. */
export function isPure(file) {
  return PURE_FOLDERS.some((folder) => file.startsWith(`test/${folder}/`)) && !NEED_MORE.includes(file);
}
