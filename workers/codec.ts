import { loadCodecConfig } from '../src/config/index.js';
import { createCodecServer } from '../src/security/codec-server.js';
import { EncryptionCodec } from '../src/security/payload-codec.js';
import { listen, runProcess } from './process.js';

await runProcess({
  name: 'codec',
  load: loadCodecConfig,
  async start({ config, logger }) {
    const codec = new EncryptionCodec(config.keyRing, { logger });
    const server = createCodecServer({
      codec,
      token: config.codecToken,
      uiCapability: config.codecUiCapability,
      uiOrigins: config.uiOrigins,
      logger,
    });
    const url = await listen(server, {
      host: config.bindAddress,
      port: config.ports.codec,
      setting: 'HOLDFAST_CODEC_PORT',
    });
    return { url, stop: () => server.close() };
  },
});
