export type FaultAction =
  'drop_reply' | 'refuse' | 'status' | 'delay' | 'garbage' | 'result' | 'lose_event' | 'repeat_event' | 'delay_event';

/** A planted misbehaviour, as the control API takes and shows it. */
export interface Fault {
  id: string;
  action: FaultAction;
  method?: string | undefined;
  path?: string | undefined;
  reconciliation_id?: string | undefined;
  status?: number | string | undefined;
  retry_after_s?: number | undefined;
  category?: string | undefined;
  sub_category?: string | undefined;
  shown_as?: string | undefined;
  delay_ms?: number | undefined;
  probability: number;
  /** How often it still fires; absent: for ever. */
  times?: number | undefined;
  after?: boolean | undefined;
  /** How often it has fired. */
  fired: number;
}
