import { z } from 'zod';
import { address, compact, id, note, time } from './fields.js';

/** Where a buyer has to go before a transaction can end. */
export interface Redirection {
  id: string;
  /** Where to send the buyer. */
  url: string;
  /** Where the buyer comes back to. */
  merchantSiteUrl?: string;
  /** Epoch ms as text. */
  created?: string;
}

export const redirectionSchema: z.ZodType<Redirection> = z
  .object({ id, url: address, merchant_site_url: note, created: time })
  .transform((wire) =>
    compact<Redirection>({
      id: wire.id,
      url: wire.url,
      merchantSiteUrl: wire.merchant_site_url,
      created: wire.created,
    }),
  );

export const redirectionListSchema: z.ZodType<Redirection[]> = z.array(redirectionSchema);
