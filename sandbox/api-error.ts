/**
 * Error answers, exactly as the service was observed to send them. The two descriptions of a 409 and the misspelt
 * "does not exits" are the service's own.
 */
export interface ErrorBody {
  category: string;
  description: string;
  more_info?: string;
}

/** Thrown by a handler to answer with an error. A refused request changes nothing. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
  ) {
    super(body.more_info ?? body.description);
  }
}

const INVALID = 'One or more request parameters are invalid.';
const NOT_FOUND = 'The resource was not found.';
const PAYMENT_CONFLICT = 'There was conflict with payment resource current state.';
const CONFLICT = 'There was conflict with the resource current state.';

export function invalidRequest(moreInfo?: string): ApiError {
  return requestError(400, INVALID, moreInfo);
}

export function notAuthenticated(): ApiError {
  const description = 'The request could not be authenticated.';
  return new ApiError(401, { category: 'api_authentication_error', description });
}

export function notFound(moreInfo?: string): ApiError {
  return requestError(404, NOT_FOUND, moreInfo);
}

/** The answer of a service without the operation: no such path (404), no such method (405) or not implemented (501). */
export function notOffered(status: 404 | 405 | 501): ApiError {
  if (status === 404) return notFound('Path not found');
  const description = status === 405 ? 'The method is not allowed.' : 'The operation is not implemented.';
  return new ApiError(status, { category: 'api_request_error', description });
}

export function paymentConflict(): ApiError {
  return requestError(409, PAYMENT_CONFLICT, 'Please check the current state of the payment.');
}

export function resourceConflict(moreInfo: string): ApiError {
  return requestError(409, CONFLICT, moreInfo);
}

export function ownFault(): ApiError {
  return new ApiError(500, { category: 'api_error', description: 'Something went wrong on our side.' });
}

/** The error body of a planted `status` fault, which no request caused. */
export function bodyForStatus(status: number, category?: string): ErrorBody {
  const body = BODIES[status] ?? (status >= 500 ? ownFault().body : invalidRequest().body);
  return category === undefined ? body : { ...body, category };
}

const BODIES: Readonly<Record<number, ErrorBody>> = {
  400: invalidRequest().body,
  401: notAuthenticated().body,
  403: { category: 'api_authentication_error', description: 'The request is not allowed.' },
  404: notFound().body,
  409: paymentConflict().body,
  429: { category: 'api_request_error', description: 'Too many requests.' },
  503: {
    category: 'provider_network_error',
    description: 'Unable to reach the provider network.',
    more_info: 'Service Unavailable',
  },
};

function requestError(status: number, description: string, moreInfo: string | undefined): ApiError {
  const body = { category: 'api_request_error', description };
  return new ApiError(status, moreInfo === undefined ? body : { ...body, more_info: moreInfo });
}
