import Module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const require = createRequire(import.meta.url);

/** The SDK loads the converters by `require` and the path of a source: it gets what was built from that. */
Module._extensions['.ts'] = (module, path) => {
  if (!path.startsWith(`${ROOT}src/`)) throw new Error(`${path} can't be loaded by require: import it`);
  module.exports = require(path.replace(ROOT, `${ROOT}dist/`).replace(/\.ts$/, '.js'));
};
