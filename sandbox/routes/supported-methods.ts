import { ALTERNATIVE_SOURCES } from '../payment-method.js';
import type { Answer, Call, Route } from '../route.js';
import { MOCK_PROVIDER_ID } from '../transaction-view.js';

export const supportedMethodRoutes: readonly Route[] = [
  {
    operation: 'listSupportedPaymentMethods',
    unnamed: 404,
    method: 'GET',
    path: '/supported-payment-methods',
    credentials: 'private',
    success: 200,
    handle: list,
  },
];

/** One entry for each provider configuration; a unit of the sandbox has one configuration. */
function list({ unit }: Call): Answer {
  const methods = ['credit_card', ...ALTERNATIVE_SOURCES].map((source) => ({
    display_name: source.replaceAll('_', ' '),
    vendor: source === 'credit_card' ? 'VISA' : `mock_${source}`,
    source_type: source,
    status: 'available',
    country: 'USA',
    amounts: [],
  }));
  const configuration = {
    configuration_id: unit.providerConfigurationId,
    configuration_name: 'MockProcessor',
    provider_id: MOCK_PROVIDER_ID,
    provider_name: 'MockProcessor',
    supported_payment_methods: methods,
    result: { status: 'Succeed' },
  };
  return { status: 200, body: [configuration] };
}
