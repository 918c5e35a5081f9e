import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Happening, StatefulFlow } from '../src/domain/flow-states.js';
import { firstPhase, isFinalPhase, STATEFUL_FLOWS, transitionsOf } from '../src/domain/flow-states.js';

/** How a diagram names what happens. Mermaid takes neither colons nor semicolons here. */
const LABELS: Readonly<Record<Happening, string>> = {
  paymentCreated: 'payment created',
  riskAsked: 'risk analysis',
  approved: 'approved',
  rejected: 'declined',
  leftOpen: 'to be reviewed',
  done: 'done',
  failed: 'declined',
  absent: 'proven not executed',
  refused: 'refused',
  capture: 'capture',
  captureInPart: 'done in part',
  void: 'void',
  refund: 'refund',
  reauthorize: 'reauthorize',
  customerKnown: 'customer found or created',
  cardStored: 'card on file',
  cardRefused: 'card not on file',
  kept: 'the charge stands',
  holdEnded: 'the hold has ended',
  voided: 'voided while pending',
  captureCancelled: 'its void has cancelled the capture',
  voidedElsewhere: 'voided elsewhere',
  capturedElsewhere: 'captured elsewhere',
};

/** The states of one type of flow as a Mermaid diagram, in its fence. */
export function diagramOf(type: StatefulFlow): string {
  const ways = new Map<string, string[]>();
  for (const { from, on, to } of transitionsOf(type)) {
    const way = `${from} --> ${to}`;
    const labels = ways.get(way) ?? [];
    ways.set(way, [...labels, LABELS[on]]);
  }
  const phases = new Set(transitionsOf(type).map(({ to }) => to));
  const lines = [
    `[*] --> ${firstPhase(type)}`,
    ...[...ways].map(([way, labels]) => `${way} : ${labels.join(', ')}`),
    ...[...phases].filter((phase) => isFinalPhase(type, phase)).map((phase) => `${phase} --> [*]`),
  ];
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n');
}

/**
 * The page with each diagram as the data gives it, between the markers of its flow.
 * @throws RangeError when the markers of a flow are missing
 */
export function withDiagrams(page: string): string {
  return STATEFUL_FLOWS.reduce((text, type) => {
    const [begin, end] = [`<!-- states of ${type} -->`, `<!-- end of ${type} -->`];
    const from = text.indexOf(begin);
    const to = text.indexOf(end);
    if (from < 0 || to < from) throw new RangeError(`The page lacks the markers "${begin}" and "${end}"`);
    return `${text.slice(0, from + begin.length)}\n\n${diagramOf(type)}\n\n${text.slice(to)}`;
  }, page);
}

/** `docs/flows.md` of this repository, from the sources as from `dist/`. */
export function flowsPage(): string {
  const above = ['..', '../..'].map((up) => fileURLToPath(new URL(up, import.meta.url)));
  const root = above.find((folder) => existsSync(join(folder, 'package.json')));
  if (root === undefined) throw new Error('The root of the repository was not found: there is no package.json above');
  return join(root, 'docs', 'flows.md');
}

function main(): void {
  const path = flowsPage();
  const page = readFileSync(path, 'utf8');
  const drawn = withDiagrams(page);
  if (process.argv.includes('--check')) {
    if (drawn === page) return;
    process.stderr.write(`${path} is not what src/domain/flow-states.ts says: run npm run flows\n`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(path, drawn);
  process.stdout.write(`${drawn === page ? 'Nothing changed' : 'Drawn anew'}: ${STATEFUL_FLOWS.length} diagrams.\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
