import type { Command } from 'commander';

export interface ApprovalRequest {
  command: 'approve' | 'reject';
  json: boolean;
  reference: string;
  /** undefined: what waits is shown, and nothing is decided. */
  commandId?: string;
  who: string;
  why: string;
}

interface Parsing {
  text: (option: string) => (value: string) => string;
  json: () => boolean;
  ask: (request: ApprovalRequest) => void;
}

interface Given {
  command?: string;
  who: string;
  why: string;
}

const DOES = {
  approve: 'lets a credit or refund above a limit of its business unit be sent',
  reject: 'refuses a credit or refund above a limit of its business unit: nothing is sent',
} as const;

export function addApprovalCommands(program: Command, { text, json, ask }: Parsing): void {
  for (const name of ['approve', 'reject'] as const)
    program
      .command(`${name} <reference>`)
      .description(DOES[name])
      .option(
        '--command <id>',
        'the command of the refund; without it what waits is shown, and nothing is decided: exit code 1',
        text('--command'),
      )
      .requiredOption('--who <name>', 'who decides: another person than the one who asked', text('--who'))
      .requiredOption('--why <text>', 'kept with the outcome', text('--why'))
      .action((reference: string, { command, who, why }: Given) =>
        ask({ command: name, json: json(), reference, who, why, ...(command !== undefined && { commandId: command }) }),
      );
}
