/**
 * gRPC's default backoff grows to two minutes between connection attempts: too long for a checkout when Temporal is
 * available again. Values in ms.
 */
export const RECONNECT_SOON = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
} as const;
