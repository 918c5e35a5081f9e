export { ConfigError } from './config/config-error.js';
export { describe, secretsOf } from './config/describe.js';
export { SECRET_FILES } from './config/encryption.js';
export { loadCodecConfig, loadConfig, loadSettings } from './config/load.js';
export { API_VERSIONS } from './config/types.js';
export type {
  ApiVersion,
  BusinessUnit,
  CodecConfig,
  Config,
  EncryptionSettings,
  Ports,
  Settings,
} from './config/types.js';
