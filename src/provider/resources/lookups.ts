import { z } from 'zod';
import { compact, note, noteOf, sumNote } from './fields.js';

export interface SupportedPaymentMethod {
  displayName?: string;
  vendor?: string;
  sourceType?: string;
  /** `available`, `temporarily_unavailable`, `disabled`; others may come. */
  status?: string;
  /** ISO 3166-1 alpha-3, at every API version. */
  country?: string;
  logoUrl?: string;
  bankCode?: string;
  /** Limits in minor units. */
  amounts?: { currency?: string; min?: number; max?: number }[];
}

/** What one provider configuration of the business unit offers. */
export interface ProviderPaymentMethods {
  configurationId?: string;
  configurationName?: string;
  providerId?: string;
  providerName?: string;
  /** Whether the provider could be asked: `Succeed` or `Failed`. */
  status?: string;
  paymentMethods: SupportedPaymentMethod[];
}

const methodSchema = z
  .object({
    display_name: note,
    vendor: note,
    source_type: note,
    status: note,
    country: note,
    logo_url: note,
    bank_code: note,
    amounts: noteOf(z.array(z.object({ currency: note, min: sumNote, max: sumNote }))),
  })
  .transform((wire) =>
    compact<SupportedPaymentMethod>({
      displayName: wire.display_name,
      vendor: wire.vendor,
      sourceType: wire.source_type,
      status: wire.status,
      country: wire.country,
      logoUrl: wire.logo_url,
      bankCode: wire.bank_code,
      amounts: wire.amounts?.map((limits) => compact<{ currency?: string; min?: number; max?: number }>(limits)),
    }),
  );

export const supportedPaymentMethodsSchema: z.ZodType<ProviderPaymentMethods[]> = z.array(
  z
    .object({
      configuration_id: note,
      configuration_name: note,
      provider_id: note,
      provider_name: note,
      result: noteOf(z.object({ status: note })),
      supported_payment_methods: z.array(methodSchema).nullish(),
    })
    .transform((wire) =>
      compact<ProviderPaymentMethods>({
        configurationId: wire.configuration_id,
        configurationName: wire.configuration_name,
        providerId: wire.provider_id,
        providerName: wire.provider_name,
        status: wire.result?.status,
        paymentMethods: wire.supported_payment_methods ?? [],
      }),
    ),
);
