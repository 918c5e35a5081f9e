import { runCampaign } from './campaign.js';

/** `npm run simulate`. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  const valueOf = (name: string): string | undefined => {
    const at = args.indexOf(`--${name}`);
    return at < 0 ? undefined : args[at + 1];
  };
  const flows = Number(valueOf('flows') ?? (args.includes('--full') ? 100_000 : 1_000));
  const seed = valueOf('seed') ?? '1';
  const only = valueOf('only');
  const before = process.cpuUsage();
  const { wrongs, stories, counts, flows: played } = await runCampaign({
    seed,
    flows,
    only: only === undefined ? undefined : Number(only),
    onBatch: (done, { wrongs: found }) => console.error(`${done} flows, ${found.length} wrong`),
  });
  const used = process.cpuUsage(before);
  for (const [kind, names] of Object.entries(counts.plain())) {
    console.log(kind);
    for (const [name, times] of Object.entries(names).toSorted(([a], [b]) => a.localeCompare(b))) console.log(`  ${name.padEnd(60)} ${times}`);
  }
  for (const story of stories) console.log(story);
  for (const { flow, sentence } of wrongs) {
    console.log(`flow ${flow}: ${sentence}\n  repeat: npm run simulate -- --seed ${seed} --flows ${flows} --only ${flow}`);
  }
  console.log(`${played} flows, seed ${seed}, ${wrongs.length} wrong, ${((used.user + used.system) / 1000 / Math.max(1, played)).toFixed(1)} ms CPU each`);
  return wrongs.length === 0 ? 0 : 1;
}
