import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Schema } from './arbitrary.js';

export interface Described {
  operation: string;
  method: string;
  path: string;
  version: string;
  control: boolean;
  /** Schema of the body, where there is one. */
  body: Schema | undefined;
  query: { name: string; schema: Schema }[];
  success: number;
  /** What a success has to look like; undefined where it has no described body. */
  fits: ValidateFunction | undefined;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  operationId: string;
  tags?: string[];
  parameters: { in: string; name: string; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content?: { 'application/json': { schema: Schema } } }>;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

/** The operations as the sandbox at that address describes them, of every API version. */
export async function describedOperations(url: string): Promise<Described[]> {
  const all: Described[] = [];
  for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0']) {
    const document = (await (await fetch(`${url}/openapi.json?api-version=${version}`)).json()) as Document;
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) all.push(read(version, path, method, operation));
    }
  }
  return all;
}

function read(version: string, path: string, method: string, operation: Operation): Described {
  const [status = '', answer] = Object.entries(operation.responses).find(([code]) => Number(code) < 400) ?? [];
  const schema = answer?.content?.['application/json'].schema;
  return {
    operation: operation.operationId,
    method: method.toUpperCase(),
    path,
    version,
    control: operation.tags?.includes('control') ?? false,
    body: operation.requestBody?.content['application/json'].schema,
    query: operation.parameters.filter((parameter) => parameter.in === 'query'),
    success: Number(status),
    fits: schema && ajv.compile(schema),
  };
}
