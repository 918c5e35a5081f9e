import { readFileSync } from 'node:fs';

export interface DocumentedMetric {
  name: string;
  kind: string;
  process: string;
  labels: string[];
}

/** Rows of the table in docs/metrics.md. */
export function documentedMetrics(): DocumentedMetric[] {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `holdfast_'));
  return rows.map((row) => {
    const [name = '', kind = '', process = '', labels = ''] = row.split('|').slice(1, 5);
    // The second of two that exclude each other has no series before it is counted.
    const named = [...labels.replaceAll(/ or `\w+`/g, '').matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
    return { name: name.trim().replaceAll('`', ''), kind: kind.trim(), process: process.trim(), labels: named };
  });
}

/**
 * What a process serves: each metric of ours with its kind and all labels that its series have, those of the buckets
 * aside. A metric without series has no labels.
 */
export function servedMetrics(text: string): { name: string; kind: string; labels: string[] }[] {
  const types = [...text.matchAll(/^# TYPE (holdfast_\w+) (\w+)$/gm)];
  return types.map(([, name = '', kind = '']) => {
    const series = text.matchAll(new RegExp(`^${name}(?:_sum|_count)?\\{(.*)\\} `, 'gm'));
    const labels = [...series].flatMap(([, inner = '']) =>
      [...inner.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    );
    return { name, kind, labels: [...new Set(labels)] };
  });
}
