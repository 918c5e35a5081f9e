import { isGrpcServiceError, type Connection, type ConnectionLike } from '@temporalio/client';

/** Under which the data of a namespace say whether it is one for test or for live. The first worker writes it. */
export const ENVIRONMENT_DATA = 'holdfast-environment';

const ENVIRONMENTS = ['test', 'live'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

const PERMISSION_DENIED = 7;

/**
 * Why a program of this environment must leave the namespace alone; undefined where it is marked for the same one, or not
 * marked. Who may not ask goes on as well: then the operators keep the two apart, as where no worker may mark it.
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

/** The sentence, where what the namespace is marked as is known already. */
export function sayIfOther(namespace: string, marked: string | null | undefined, own: Environment): string | undefined {
  if (marked === undefined || marked === null || marked === own) return undefined;
  return (
    `namespace "${namespace}" is one for "${marked}", and this program has HOLDFAST_ENVIRONMENT="${own}": what is test and ` +
    'what is live would be mixed up there. Use another namespace (TEMPORAL_NAMESPACE) or the other environment.'
  );
}

/**
 * The environment of a program that need not name one: what it was told, or else what HOLDFAST_ENVIRONMENT says.
 * @throws RangeError for any other word: a misspelt one would switch the check off
 */
export function environmentNamed(told: string | undefined): Environment | undefined {
  const word = (told ?? process.env['HOLDFAST_ENVIRONMENT'])?.trim();
  if (word === undefined || word === '') return undefined;
  const known = ENVIRONMENTS.find((environment) => environment === word);
  if (known === undefined) throw new RangeError(`HOLDFAST_ENVIRONMENT="${word}": write "test" or "live"`);
  return known;
}
