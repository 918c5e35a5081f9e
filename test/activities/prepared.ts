import { randomUUID } from 'node:crypto';
import { type ApiVersion, ProviderClient, type ProviderUnit } from '../../src/provider/index.js';
import { GOOD_CARD, type TestSandbox } from '../sandbox/support/sandbox.js';
import { type ActivityOperation, CAPTURED, type Ids, MONEY, NOTHING, ORDER, REFUNDED } from './calls.js';

const SANDBOX_UNIT = {
  appId: 'holdfast-sandbox',
  privateKey: 'sandbox-private-key',
  publicKey: 'sandbox-public-key',
};
export const HOLDER = 'Anastasia Holder';

/** Brings the sandbox into the state in which an operation succeeds, through a client of the same API version. */
export class Prepared {
  readonly client: ProviderClient;

  constructor(
    sandbox: TestSandbox,
    private readonly version: ApiVersion,
    unit: Omit<ProviderUnit, 'apiVersion'> = SANDBOX_UNIT,
  ) {
    this.client = new ProviderClient({
      baseUrl: sandbox.url,
      environment: 'test',
      unit: { ...unit, apiVersion: version },
    });
  }

  async for(operation: ActivityOperation): Promise<Ids> {
    const make = STATES[operation];
    return { ...NOTHING, ...(await make?.(this)) };
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async token(cardNumber = GOOD_CARD): Promise<{ token: string }> {
    const card = {
      tokenType: 'credit_card',
      holderName: HOLDER,
      cardNumber,
      expirationDate: '11/2031',
    } as const;
    const { data } = await this.client.createToken(card);
    return { token: data.token };
  }

  async payment(): Promise<{ paymentId: string }> {
    const { data } = await this.client.createPayment({ ...MONEY, order: ORDER });
    return { paymentId: data.id };
  }

  /** A payment and a token to pay it with. */
  async ready(): Promise<{ paymentId: string; token: string }> {
    return { ...(await this.payment()), ...(await this.token()) };
  }

  async made(kind: 'Authorization' | 'Charge' | 'Credit'): Promise<Made> {
    const { paymentId, token } = await this.ready();
    const request = { paymentMethod: { type: 'tokenized', token } } as const;
    const { data } = await this.client[`create${kind}`](paymentId, request, { clientIpAddress: '203.0.113.7' });
    return { paymentId, transactionId: data.id };
  }

  async captured(): Promise<Made> {
    const { paymentId } = await this.made('Authorization');
    const { data } = await this.client.createCapture(paymentId, { amount: CAPTURED }, { currency: MONEY.currency });
    return { paymentId, transactionId: data.id };
  }

  async voided(): Promise<Made> {
    const { paymentId } = await this.made('Authorization');
    return { paymentId, transactionId: (await this.client.createVoid(paymentId)).data.id };
  }

  async refunded(): Promise<Made> {
    const { paymentId } = await this.captured();
    const { data } = await this.client.createRefund(paymentId, { amount: REFUNDED }, { currency: MONEY.currency });
    return { paymentId, transactionId: data.id };
  }

  async analysed(): Promise<Made> {
    const { paymentId } = await this.payment();
    return { paymentId, transactionId: (await this.client.createRiskAnalysis(paymentId)).data.id };
  }

  fresh(): { customerReference: string } {
    return { customerReference: `ann-${this.version}-${randomUUID()}` };
  }

  async customer(): Promise<{ customerId: string; customerReference: string }> {
    const reference = this.fresh();
    return { ...reference, customerId: (await this.client.createCustomer(reference)).data.id };
  }

  async withCard(): Promise<{ customerId: string; token: string }> {
    const { customerId } = await this.customer();
    const { token } = await this.token();
    await this.client.storePaymentMethod(customerId, token);
    return { customerId, token };
  }
}

interface Made {
  paymentId: string;
  transactionId: string;
}

type State = (prepared: Prepared) => Promise<Partial<Ids>> | Partial<Ids>;
const payment: State = (prepared) => prepared.payment();
const ready: State = (prepared) => prepared.ready();
const authorized: State = (prepared) => prepared.made('Authorization');
const charged: State = (prepared) => prepared.made('Charge');
const credited: State = (prepared) => prepared.made('Credit');
const captured: State = (prepared) => prepared.captured();
const voided: State = (prepared) => prepared.voided();
const refunded: State = (prepared) => prepared.refunded();
const analysed: State = (prepared) => prepared.analysed();
const customer: State = (prepared) => prepared.customer();
const withCard: State = (prepared) => prepared.withCard();

/** What must be there before; nothing where none is named. */
const STATES: Readonly<Partial<Record<ActivityOperation, State>>> = {
  getPayment: payment,
  createAuthorization: ready,
  getAuthorization: authorized,
  listAuthorizations: authorized,
  createCharge: ready,
  getCharge: charged,
  listCharges: charged,
  createCapture: authorized,
  getCapture: captured,
  listCaptures: captured,
  createVoid: authorized,
  getVoid: voided,
  listVoids: voided,
  createRefund: captured,
  getRefund: refunded,
  listRefunds: refunded,
  createCredit: ready,
  getCredit: credited,
  listCredits: credited,
  createRiskAnalysis: ready,
  getRiskAnalysis: analysed,
  listRiskAnalyses: analysed,
  createCustomer: (prepared) => prepared.fresh(),
  getCustomer: customer,
  findCustomer: customer,
  storePaymentMethod: async (prepared) => ({ ...(await prepared.customer()), ...(await prepared.token()) }),
  getPaymentMethod: withCard,
  listPaymentMethods: withCard,
  deletePaymentMethod: withCard,
  getToken: (prepared) => prepared.token(),
};
