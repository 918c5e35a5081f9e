import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFaults, renderReport } from '../../tools/api-report.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Writes declaration files as the compiler does, and returns the path of the first. */
function writeDeclarations(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return join(folder, Object.keys(files)[0] ?? '');
}

const ORDERS = `import type { Currency } from './money.js';
import type { Socket } from 'node:net';
export interface Line {
    socket: Socket;
    currency: Currency;
}
interface Base {
    kind: 'Line';
}
export interface Order extends Base {
    lines: Line[];
}
/**
 * Finds an order.
 * @throws OrderError without one
 * @throws RangeError for a number that can't be one
 */
export declare function findOrder(): Order;
`;
const MONEY = `export type Currency = 'EUR' | 'USD';
`;

test('an entry that exports every type of its exports has no fault', () => {
  const entry = writeDeclarations({
    'index.d.ts': `export { findOrder } from './orders.js';
export type { Line, Order } from './orders.js';
export type { Base, Currency, OrderError } from './all.js';
`,
    'all.d.ts': `export { Base, OrderError } from './orders.js';
export type { Currency } from './money.js';
`,
    'orders.d.ts': `${ORDERS.replace('interface Base', 'export interface Base')}export declare class OrderError extends Error {
}
`,
    'money.d.ts': MONEY,
  });
  expect(findFaults('shop', entry)).toEqual([]);
});

test('a type that an export names, however deep, must be exported by the same entry', () => {
  const entry = writeDeclarations({
    'index.d.ts': `export { findOrder } from './orders.js';
export type { Order } from './orders.js';
`,
    'orders.d.ts': ORDERS,
    'money.d.ts': MONEY,
  });
  expect(findFaults('shop', entry).toSorted()).toEqual([
    'shop does not export Base, which Order names',
    'shop does not export Currency, which Line names',
    'shop does not export Line, which Order names',
    'shop does not export OrderError, which findOrder names',
  ]);
});

test('a type that the compiler writes by its file counts, and the report shows it by its name', async () => {
  const entry = writeDeclarations({
    'index.d.ts': `export declare const CURRENCIES: {
    readonly first: import("./money.js").Currency;
};
`,
    'money.d.ts': MONEY,
  });
  expect(findFaults('shop', entry)).toEqual(['shop does not export Currency, which CURRENCIES names']);
  const report = await renderReport('shop', entry, entry);
  expect(report).toContain('readonly first: Currency;');
  expect(report).toContain('Named above and not exported:');
});

test('the types from which others are computed need not be exported, and the report shows the fields', async () => {
  const entry = writeDeclarations({
    'index.d.ts': `type FieldsOf<T> = {
    [K in keyof T]: T[K];
};
declare const customerFields: {
    name: string;
    orders: Order[];
    city?: string;
};
export interface Order {
    id: string;
}
export interface Customer extends FieldsOf<typeof customerFields> {
}
export {};
`,
  });
  expect(findFaults('shop', entry)).toEqual([]);
  const report = await renderReport('shop', entry, entry);
  expect(report).toContain('interface Customer {\n  name: string;\n  orders: Order[];\n  city?: string;\n}');
  expect(report).not.toContain('FieldsOf');
});
