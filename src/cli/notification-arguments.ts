import type { Command } from 'commander';

export type NotificationRequest =
  | { command: 'notifications list'; json: boolean; since: Date; all: boolean }
  /** `ids` empty: all that were given up. */
  | { command: 'notifications resend'; json: boolean; since: Date; ids: readonly string[] }
  | { command: 'events export'; json: boolean; since: Date };

interface Readers {
  instantOf: (option: string) => (value: string) => Date;
  json: () => boolean;
  ask: (request: NotificationRequest) => void;
  faults: string[];
}

const MONTH_MS = 30 * 86_400_000;

/** What merchants were told: `events export` stands beside the commands about webhooks that have found no flow. */
export function addNotificationCommands(
  program: Command,
  events: Command,
  { instantOf, json, ask, faults }: Readers,
): void {
  const notifications = program.command('notifications').description('what merchants are told');
  notifications
    .command('list')
    .description('what an endpoint has not taken: it waits for another try, or was given up')
    .option('--all', 'what was taken as well')
    .option('--since <instant>', 'happened then or later (default: 30 days ago)', instantOf('--since'))
    .action(({ all, since = monthAgo() }: { all?: true; since?: Date }) =>
      ask({ command: 'notifications list', json: json(), since, all: all === true }),
    );
  notifications
    .command('resend [notification...]')
    .description('sends again, under the same ids')
    .option('--all', 'all that were given up, or whose flow somebody has ended')
    .option('--since <instant>', 'happened then or later (default: 30 days ago)', instantOf('--since'))
    .action((ids: string[], { all, since = monthAgo() }: { all?: true; since?: Date }) => {
      if ((all === true) === ids.length > 0)
        faults.push(
          'notifications resend takes notifications, as in: npx holdfast notifications resend ntf_<its 32 digits>, or --all',
        );
      ask({ command: 'notifications resend', json: json(), since, ids });
    });
  events
    .command('export')
    .description('everything that merchants were told since an instant, as lines of JSON: for one who has missed some')
    .requiredOption('--since <instant>', 'such as 2027-01-31T00:00:00Z', instantOf('--since'))
    .action(({ since }: { since: Date }) => ask({ command: 'events export', json: json(), since }));
}

function monthAgo(): Date {
  return new Date(Date.now() - MONTH_MS);
}
