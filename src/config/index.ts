export { describe, secretsOf } from './describe.js';
export {
  ConfigError,
  loadCodecConfig,
  loadConfig,
  SECRET_FILES,
  type CodecConfig,
  type Config,
  type Settings,
} from './load.js';
export { notifySettings } from './notifications.js';
export { sayUnknown, unknownNames } from './unknown-names.js';
