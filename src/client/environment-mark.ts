import type { ConnectionLike } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { ENVIRONMENT_MARK } from '../contract/names.js';
import { codeOf, GRPC, unlessMissing } from './grpc-codes.js';

const ENVIRONMENTS = ['test', 'live'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export type Service = Pick<ConnectionLike, 'workflowService'>;

/** What says of a namespace whether it is for test or for live. `holdfast setup` makes it. */
export interface Mark {
  environment: string;
  heldBy: 'data' | 'open workflow' | 'closed workflow';
}

/** @param data of the namespace, as describing it answers */
export async function readMark(
  { workflowService }: Service,
  namespace: string,
  data: Readonly<Record<string, string>> | null | undefined,
): Promise<Mark | undefined> {
  const environment = data?.[ENVIRONMENT_MARK.namespaceData];
  if (environment !== undefined) return { environment, heldBy: 'data' };
  const execution = { workflowId: ENVIRONMENT_MARK.workflowId };
  const described = await unlessMissing(workflowService.describeWorkflowExecution({ namespace, execution }));
  const { memo, closeTime } = described?.workflowExecutionInfo ?? {};
  const payload = memo?.fields?.[ENVIRONMENT_MARK.memo];
  if (payload === undefined || payload === null) return undefined;
  return {
    environment: String(defaultPayloadConverter.fromPayload<unknown>(payload)),
    // A closed one still counts: whoever terminates it must not open a live namespace to test.
    heldBy: closeTime === undefined || closeTime === null ? 'open workflow' : 'closed workflow',
  };
}

/**
 * Why a program of this environment must not use the namespace; undefined if it is marked for the same environment or
 * not marked. Also undefined without permission to read the mark: then the operators keep test and live apart.
 */
export async function otherEnvironment(
  service: Service,
  namespace: string,
  own: Environment,
): Promise<string | undefined> {
  try {
    const { namespaceInfo } = await service.workflowService.describeNamespace({ namespace });
    return sayIfOther(namespace, await readMark(service, namespace, namespaceInfo?.data), own);
  } catch (error) {
    if (codeOf(error) === GRPC.permissionDenied) return undefined;
    throw error;
  }
}

/** The same sentence for a mark that was read already. */
export function sayIfOther(namespace: string, mark: Mark | undefined, own: Environment): string | undefined {
  if (mark === undefined || mark.environment === own) return undefined;
  return (
    `namespace "${namespace}" is one for "${mark.environment}", and this program has HOLDFAST_ENVIRONMENT="${own}": what is ` +
    'test and what is live would be mixed up there. Use another namespace (TEMPORAL_NAMESPACE) or the other environment.'
  );
}

/**
 * The optional environment of a program: the argument, or else HOLDFAST_ENVIRONMENT.
 * @throws RangeError for any other word: a misspelt one would switch the check off
 */
export function environmentNamed(told: string | undefined): Environment | undefined {
  const word = (told ?? process.env['HOLDFAST_ENVIRONMENT'])?.trim();
  if (word === undefined || word === '') return undefined;
  const known = ENVIRONMENTS.find((environment) => environment === word);
  if (known === undefined) throw new RangeError(`HOLDFAST_ENVIRONMENT="${word}": write "test" or "live"`);
  return known;
}
