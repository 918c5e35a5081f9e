/** Folders whose tests run on the sources alone. */
const PURE_FOLDERS = ['contract', 'domain', 'activities', 'provider', 'security', 'webhook', 'client'];
/** Files elsewhere that do so as well. */
const PURE_TOO = ['test/workflows/classify-failure.test.ts'];
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
  if (PURE_TOO.includes(file)) return true;
  return PURE_FOLDERS.some((folder) => file.startsWith(`test/${folder}/`)) && !NEED_MORE.includes(file);
}
