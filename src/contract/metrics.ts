/** Metrics of workers. The SDK's exporter adds `_total` to a counter: docs/metrics.md has the names that are scraped. */
export const WORKER_COUNTERS = {
  settledBy: 'holdfast_settled_by',
  captureDeadlineNear: 'holdfast_capture_deadline_near',
  notificationsGivenUp: 'holdfast_notifications_given_up',
  unitCallsHeldBack: 'holdfast_unit_calls_held_back',
  brakesUnread: 'holdfast_brakes_unread',
  codecUndecodable: 'holdfast_codec_undecodable',
  codecOtherFlow: 'holdfast_codec_other_flow',
} as const;

export const WORKER_GAUGES = {
  unitCircuitOpen: 'holdfast_unit_circuit_open',
  unitBraked: 'holdfast_unit_braked',
  deploymentVersions: 'holdfast_deployment_versions',
  referenceBookUnreachable: 'holdfast_reference_book_unreachable',
  findingsOpen: 'holdfast_findings_open',
} as const;
