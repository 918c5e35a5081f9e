import { isGrpcServiceError } from '@temporalio/client';

/** The codes of gRPC that are told apart. */
export const GRPC = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** undefined for an error of another kind */
export function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? Number(error.code) : undefined;
}

/** @returns undefined if the server knows no such thing */
export async function unlessMissing<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === GRPC.notFound) return undefined;
    throw error;
  }
}
