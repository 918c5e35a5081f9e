import { searchAttributePayloadConverter } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import type { Engine } from './engine.js';
import type { Run } from './run.js';
import { GRPC, GrpcError, toMs, WorkflowExecutionStatus } from './shapes.js';

type Value = string | number | boolean | undefined;
type Test = (run: Run) => boolean;

const TOKEN = /\s*(?:([A-Za-z_]+)|(!=|<=|>=|=|<|>|\(|\)|,)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+(?:\.\d+)?))/y;
type Token = { word: string } | { sign: string } | { value: string | number };

/** Every run that the query is true of, the latest start first. Understands what Holdfast asks with. */
export function listRuns(engine: Engine, query: string): Run[] {
  const test = query.trim() === '' ? () => true : parse(tokensOf(query));
  return [...engine.all()].filter(test).sort((a, b) => b.startedAt - a.startedAt);
}

function tokensOf(query: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (query.slice(TOKEN.lastIndex).trim() !== '') {
    const found = TOKEN.exec(query);
    if (found === null) throw invalid(query);
    const [, word, sign, double, single, digits] = found;
    if (word !== undefined) tokens.push({ word });
    else if (sign !== undefined) tokens.push({ sign });
    else if (digits !== undefined) tokens.push({ value: Number(digits) });
    else tokens.push({ value: (double ?? single ?? '').replace(/\\(.)/g, '$1') });
  }
  return tokens;
}

function parse(tokens: Token[]): Test {
  let at = 0;
  const word = (): string | undefined => {
    const token = tokens[at];
    return token !== undefined && 'word' in token ? token.word.toUpperCase() : undefined;
  };
  const takeSign = (sign: string): boolean => {
    const token = tokens[at];
    const fits = token !== undefined && 'sign' in token && token.sign === sign;
    if (fits) at += 1;
    return fits;
  };
  const takeWord = (wanted: string): boolean => {
    const fits = word() === wanted;
    if (fits) at += 1;
    return fits;
  };
  const value = (): Value => {
    const token = tokens[at++];
    if (token !== undefined && 'value' in token) return token.value;
    if (token !== undefined && 'word' in token) return token.word.toLowerCase() === 'true';
    throw invalid('a value is missing');
  };
  const either = (): Test => {
    const tests = [both()];
    while (takeWord('OR')) tests.push(both());
    return (run) => tests.some((test) => test(run));
  };
  const both = (): Test => {
    const tests = [one()];
    while (takeWord('AND')) tests.push(one());
    return (run) => tests.every((test) => test(run));
  };
  const one = (): Test => {
    if (takeWord('NOT')) {
      const test = one();
      return (run) => !test(run);
    }
    if (takeSign('(')) {
      const test = either();
      if (!takeSign(')')) throw invalid('a bracket is open');
      return test;
    }
    const token = tokens[at++];
    if (token === undefined || !('word' in token)) throw invalid('an attribute is missing');
    const read = (run: Run): Value => attributeOf(run, token.word);
    if (takeWord('IS')) {
      const isNot = takeWord('NOT');
      if (!takeWord('NULL')) throw invalid('IS what?');
      return (run) => (read(run) === undefined) !== isNot;
    }
    if (takeWord('IN')) {
      takeSign('(');
      const values: Value[] = [];
      do values.push(value());
      while (takeSign(','));
      takeSign(')');
      return (run) => values.includes(read(run));
    }
    if (takeWord('STARTS_WITH')) {
      const prefix = String(value());
      return (run) => String(read(run) ?? '').startsWith(prefix);
    }
    const sign = tokens[at++];
    if (sign === undefined || !('sign' in sign)) throw invalid('an operator is missing');
    const wanted = value();
    return comparison(sign.sign, read, wanted);
  };
  const test = either();
  if (at < tokens.length) throw invalid('it goes on after its end');
  return test;
}

function comparison(sign: string, read: (run: Run) => Value, wanted: Value): Test {
  switch (sign) {
    case '=':
      return (run) => read(run) === wanted;
    case '!=':
      return (run) => read(run) !== wanted;
    case '<':
      return (run) => read(run) !== undefined && (read(run) as string) < (wanted as string);
    case '>':
      return (run) => read(run) !== undefined && (read(run) as string) > (wanted as string);
    case '<=':
      return (run) => read(run) !== undefined && (read(run) as string) <= (wanted as string);
    default:
      return (run) => read(run) !== undefined && (read(run) as string) >= (wanted as string);
  }
}

const STATUS_NAMES: Record<number, string | undefined> = Object.fromEntries(
  [
    ['RUNNING', 'Running'],
    ['COMPLETED', 'Completed'],
    ['FAILED', 'Failed'],
    ['CANCELED', 'Canceled'],
    ['TERMINATED', 'Terminated'],
    ['CONTINUED_AS_NEW', 'ContinuedAsNew'],
    ['TIMED_OUT', 'TimedOut'],
  ].map(([name, text]) => [
    WorkflowExecutionStatus[`WORKFLOW_EXECUTION_STATUS_${name}` as keyof typeof WorkflowExecutionStatus],
    text,
  ]),
);

function attributeOf(run: Run, name: string): Value {
  switch (name) {
    case 'WorkflowId':
      return run.start.workflowId;
    case 'RunId':
      return run.start.runId;
    case 'WorkflowType':
      return run.start.type;
    case 'TaskQueue':
      return run.start.taskQueue;
    case 'ExecutionStatus':
      return STATUS_NAMES[run.status];
    case 'StartTime':
      return new Date(run.startedAt).toISOString();
    case 'CloseTime':
      return run.closedAt === undefined ? undefined : new Date(toMs(run.events.at(-1)?.eventTime) ?? 0).toISOString();
    default: {
      const payload = run.searchAttributes[name];
      if (payload === undefined) return undefined;
      const value: unknown = searchAttributePayloadConverter.fromPayload(payload as never);
      const single: unknown = Array.isArray(value) ? value[0] : value;
      return single instanceof Date ? single.toISOString() : (single as Value);
    }
  }
}

function invalid(why: string): GrpcError {
  return new GrpcError(GRPC.invalidArgument, `invalid query: ${why}`);
}
