/**
 * A connection that failed often is tried again only every two minutes as gRPC ships it: far too long for a
 * checkout whose engine is back. Values in ms.
 */
export const RECONNECT_SOON = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
} as const;
