import { isGrpcServiceError, type Connection, type ConnectionLike } from '@temporalio/client';

/** Key in the namespace's data that marks it as `test` or `live`. The first worker writes it. */
export const ENVIRONMENT_DATA = 'holdfast-environment';

const ENVIRONMENTS = ['test', 'live'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

const PERMISSION_DENIED = 7;

/**
 * Why a program of this environment must not use the namespace; undefined if it is marked for the same environment or
 * not marked. Also undefined without permission to read the mark: then the operators keep test and live apart, as
 * they do where no worker may write it.
 */
export async function otherEnvironment(
  { workflowService }: Pick<Connection | ConnectionLike, 'workflowService'>,
  namespace: string,
  own: Environment,
): Promise<string | undefined> {
  let marked: string | null | undefined;
  try {
    const { namespaceInfo } = await workflowService.describeNamespace({ namespace });
    marked = namespaceInfo?.data?.[ENVIRONMENT_DATA];
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === PERMISSION_DENIED) return undefined;
    throw error;
  }
  return sayIfOther(namespace, marked, own);
}

/** The same sentence for a mark that is already known. */
export function sayIfOther(namespace: string, marked: string | null | undefined, own: Environment): string | undefined {
  if (marked === undefined || marked === null || marked === own) return undefined;
  return (
    `namespace "${namespace}" is one for "${marked}", and this program has HOLDFAST_ENVIRONMENT="${own}": what is test and ` +
    'what is live would be mixed up there. Use another namespace (TEMPORAL_NAMESPACE) or the other environment.'
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
