import { setTimeout as sleep } from 'node:timers/promises';
import { readCompose } from '../compose.mjs';

/**
 * Whether the rig finds what a reader overlooks: the compose file once gave Temporal's server no file of dynamic
 * configuration, which its image lacks, so that nothing came up.
 */
export async function run({ check, open, close }) {
  const model = await readCompose({ envFile: 'deploy/demo.env' });
  const { temporal } = model.services;
  delete temporal.configs;
  delete temporal.environment.DYNAMIC_CONFIG_FILE_PATH;
  const rig = await open(model);
  try {
    await rig.build();
    await check('a server without its file of dynamic configuration is found not to come up', async () => {
      const begun = Date.now();
      let end;
      // It never ends by itself: the engine starts such a server again and again.
      rig.up({ services: ['worker'] }).then(
        () => (end = 'it came up'),
        (error) => (end = error.message),
      );
      for (;;) {
        const [line] = /unable to create dynamic config client.*/.exec(rig.log('temporal')) ?? [];
        if (line !== undefined) return line.slice(0, 160);
        if (end !== undefined || Date.now() - begun > 120_000) throw new Error(end ?? rig.log('temporal'));
        await sleep(500);
      }
    });
  } finally {
    await close(rig);
  }
}
