export type FaultAction =
  'drop_reply' | 'refuse' | 'status' | 'delay' | 'garbage' | 'result' | 'lose_event' | 'repeat_event' | 'delay_event';

/** A document to show the buyer, such as a voucher for a cash payment. */
export interface ProviderDocument {
  descriptor?: string | undefined;
  content_type?: string | undefined;
  content?: string | undefined;
  href?: string | undefined;
}

/** A planted fault, as the control API accepts and shows it. */
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
  documents?: ProviderDocument[] | undefined;
  delay_ms?: number | undefined;
  probability: number;
  /** How often it still fires; undefined: without a limit. */
  times?: number | undefined;
  after?: boolean | undefined;
  /** How often it has fired. */
  fired: number;
}
