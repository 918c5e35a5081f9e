import { z } from 'zod';
import { durationMs, businessUnitSchema, faultsOf, notifySchema, show } from '../contract/fields.js';
import { NOTIFICATION_TYPES } from '../contract/notifications.js';
import { isNotificationSecret } from '../security/notification-signature.js';
import { declinesSchema } from './declines.js';
import { outgoingSchema } from './outgoing.js';
import { API_VERSIONS, type ApiVersion } from './schema.js';

/** Text of a field in docs/configuration.md; `default` is Markdown, for fields whose schema has no default. */
export const unitFields = z.registry<{ description: string; default?: string }>();

/** Shorter keys could be guessed from one signed event. */
const SHORTEST_LIVE_KEY = 16;
const INSIDE = 'additional_information.';

const keySchema = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(1000)
  .regex(/^[\x21-\x7e]*$/, 'holds a space, a line break or a character outside ASCII');

/** The old and the new one sign while one replaces the other. */
const secretsSchema = z
  .array(z.string().refine(isNotificationSecret, 'is not whsec_ and the base64 of 24 to 64 bytes'))
  .min(1)
  .max(3);

const notificationsSchema = z.strictObject({
  endpoints: z
    .array(
      z.strictObject({
        url: notifySchema.zod.shape.url,
        types: z.array(z.enum(NOTIFICATION_TYPES)).min(1).exactOptional(),
        secrets: secretsSchema.exactOptional(),
      }),
    )
    .max(10)
    .default([]),
  secrets: secretsSchema.exactOptional(),
});

/** Of a unit that does not name them. */
const DEFAULT_TERMS = { holdDuration: '7 days', namedAmounts: 'used' } as const;

export const unitSchema = z.strictObject({
  appId: keySchema,
  privateKey: keySchema,
  /** Still accepted for webhook signatures during key rotation. */
  previousPrivateKeys: z.array(keySchema).default([]),
  publicKey: keySchema.exactOptional().register(unitFields, {
    description: "for tokens made by Holdfast's own tools; the service's hosted fields use it in the browser",
  }),
  apiVersion: z.enum(API_VERSIONS).exactOptional().register(unitFields, {
    description: 'which of 1.0.0, 1.1.0, 1.2.0 and 1.3.0 this unit speaks',
    default: '`HOLDFAST_API_VERSION`',
  }),
  /** How long the provider holds an authorization, such as "7 days". */
  holdDuration: z
    .string()
    .refine((value) => (durationMs(value) ?? 0) > 0, 'is not a duration, such as "7 days"')
    .default(DEFAULT_TERMS.holdDuration)
    .register(unitFields, {
      description:
        "how long the unit's provider holds an authorization. Too long, and a capture comes too late; too short, and the money is released early. With `risk` that of the `riskUnit` counts, which needs one",
    }),
  /** Name of the unit under which risk-analysed payments are created. */
  riskUnit: z.string().exactOptional().register(unitFields, {
    description:
      'name of the unit (itself, say) under which a payment with `risk` is created; the service may refuse its analysis below API 1.3.0. Without it such a payment is refused before anything is sent',
  }),
  /** Field of `provider_data` that holds the consent id of a card on file, by provider name or `*`. */
  consentIdFields: z
    .record(
      z.string().min(1).max(100),
      z.string().regex(/^[A-Za-z0-9_]{1,64}(\.[A-Za-z0-9_]{1,64})?$/, {
        error: 'is not the name of a field, such as scheme_reference or additional_information.scheme_reference',
      }),
    )
    .refine((fields) => Object.values(fields).every((field) => !field.includes('.') || field.startsWith(INSIDE)), {
      error: `only ${INSIDE}<name> may hold a dot`,
    })
    .exactOptional()
    .register(unitFields, {
      description:
        'under which field of `provider_data` each provider, by its name or `*` for any other, puts the consent id of a card on file: `{"Provider A": "scheme_reference", "*": "additional_information.trace"}`. Default `network_transaction_id`',
    }),
  /** `interface`: the service has only the reads that its interface names; no others are sent. */
  reads: z.enum(['all', 'interface']).exactOptional().register(unitFields, {
    description:
      '`interface`: its service has no lists of transactions, and of single ones only `GET` of a charge. Flows do not ask for the others, and take three refused reads for granted ([flows.md](flows.md#a-service-with-only-what-its-interface-names))',
    default: '`all`',
  }),
  /** `ignored`: the service ignores the amount of a capture or refund and moves the whole amount. */
  namedAmounts: z
    .enum(['used', 'ignored'])
    .exactOptional()
    .register(unitFields, {
      description:
        '`ignored`: its service takes no notice of the amount that a capture or refund names and moves the whole. A part is then refused with `InvalidInput` before anything is sent. With `risk` that of the `riskUnit` counts, which needs one',
      default: `\`${DEFAULT_TERMS.namedAmounts}\``,
    }),
  /** After a partial capture, void the rest of the hold if the service offers that: it doesn't cancel the capture. */
  voidAfterPartialCapture: z.boolean().exactOptional().register(unitFields, {
    description:
      '`true`: its service takes a void after a partial capture as one of the rest alone. What a capture leaves of a hold is then voided where the service offers that; by default it is left to lapse, since the void might cancel the capture. Counts for payments that are created under this unit',
    default: '`false`',
  }),
  /** Counts for payments that are created under this unit and for its subscriptions. */
  declines: declinesSchema.exactOptional().register(unitFields, {
    description:
      'how its declines count, and how often a declined card is tried: `{"categories":{"provider_error":"hard"},"subCategories":{"expired_card":"hard"},"unknown":"soft","cap":{"tries":8,"days":30}}` ([subscriptions.md](subscriptions.md#declines-of-a-business-unit))',
    default: 'the built-in table and the limits of the card schemes',
  }),
  /** Counts for payments that are created under this unit. */
  outgoing: outgoingSchema.exactOptional().register(unitFields, {
    description:
      'what it sends to cards before another person has to approve it: `{"perCall":{"EUR":50000},"perDay":{"EUR":200000},"refundsPerCard":3,"approveWithin":"3 days"}`, in minor units and days in UTC ([flows.md](flows.md#limits-of-what-is-sent-to-cards)). With `risk` those of the `riskUnit` count, which needs some',
    default: 'no limit',
  }),
  /** Most calls of its service per second, over all workers. */
  callsPerSecond: z.int().min(1).max(100_000).exactOptional().register(unitFields, {
    description:
      'most calls that its service gets per second from all workers together; each of them takes an equal share (`HOLDFAST_WORKER_COUNT`). What is more waits, buyers first; each webhook handler may read a tenth of it besides ([production.md](production.md#limits-of-a-service))',
    default: 'no limit',
  }),
  /** Who is told of its flows. */
  notifications: notificationsSchema.exactOptional().register(unitFields, {
    description:
      'who is told of its flows: `{"endpoints":[{"url":"https://shop.example/hooks","types":["payment.succeeded"],"secrets":["whsec_…"]}],"secrets":["whsec_…"]}`. An endpoint without `types` gets all, one without `secrets` those of the unit; a unit without any `HOLDFAST_NOTIFY_SECRET` ([notifications.md](notifications.md))',
    default: 'nobody, but the addresses that flows name themselves',
  }),
  /** Accepts unsigned and older events (API 1.0.1 and before). */
  legacyWebhooks: z.boolean().default(false).register(unitFields, {
    description: 'takes unsigned events of 1.0.1 and older',
  }),
});

/** One set of credentials of the payment service. Workflows know only its name. */
export interface BusinessUnit extends z.output<typeof unitSchema> {
  name: string;
  apiVersion: ApiVersion;
}

const ifReadable = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
/** Faulty ones are given all the same, and a fault of their own. */
const givenSecrets = z.array(z.string()).min(1).optional().catch(['']);

/**
 * What can be read of a unit, whatever else of it is faulty: a weak key that shows only once a misspelt field is mended
 * costs another start.
 */
const readableSchema = z.object({
  appId: ifReadable(keySchema),
  privateKey: ifReadable(keySchema),
  previousPrivateKeys: z.array(ifReadable(keySchema)).catch([]),
  publicKey: ifReadable(keySchema),
  notifications: ifReadable(
    z.object({
      endpoints: z
        .array(
          ifReadable(
            z.object({
              url: notifySchema.zod.shape.url,
              types: ifReadable(z.array(z.enum(NOTIFICATION_TYPES))),
              secrets: givenSecrets,
            }),
          ),
        )
        .transform((all) => all.filter((one) => one !== undefined))
        .catch([]),
      secrets: givenSecrets,
    }),
  ),
});

export interface ReadableUnit extends z.output<typeof readableSchema> {
  name: string;
}

/** The sandbox's predefined unit. */
export const SANDBOX_UNITS = {
  default: {
    appId: 'holdfast-sandbox',
    privateKey: 'sandbox-private-key',
    publicKey: 'sandbox-public-key',
    riskUnit: 'default',
  },
};

export interface ParsedUnits {
  /** Those without a fault. */
  units: ReadonlyMap<string, BusinessUnit>;
  /** All of them. */
  readable: ReadonlyMap<string, ReadableUnit>;
  faults: string[];
}

/** Parses business units by name. Faults contain no values, because any value may be a misplaced key. */
export function parseBusinessUnits(parsed: unknown, apiVersion: ApiVersion): ParsedUnits {
  const units = new Map<string, BusinessUnit>();
  const readable = new Map<string, ReadableUnit>();
  const faults: string[] = [];
  const byName = z.record(z.string(), z.unknown()).safeParse(parsed);
  if (!byName.success) return { units, readable, faults: ['expected an object of name -> business unit'] };
  const names = Object.keys(byName.data);
  if (!names.includes('default')) faults.push('there is no unit named "default"');
  for (const [name, value] of Object.entries(byName.data)) {
    if (!businessUnitSchema.safeParse(name).success) {
      faults.push(`${show(name)} is not a name; use 1-64 characters of A-Z a-z 0-9 _ . -`);
    }
    // Checked separately, so that it is reported together with other faults.
    const risk = z.object({ riskUnit: z.string() }).safeParse(value);
    if (risk.success && !names.includes(risk.data.riskUnit)) {
      faults.push(`${name}: riskUnit names a unit that is not there; use one of ${names.join(', ')}`);
    }
    const read = readableSchema.safeParse(value);
    if (read.success) readable.set(name, { ...read.data, name });
    const unit = unitSchema.safeParse(value);
    if (unit.success) units.set(name, { apiVersion, ...unit.data, name });
    else faults.push(...faultsOf(unit.error).map((fault) => `${name}: ${fault}`));
  }
  return { units, readable, faults: [...faults, ...lostTerms(byName.data), ...sharedAppIds(readable)] };
}

/** Terms that count for the payments created under a unit, and the end of the advice to give its `riskUnit` such. */
const OF_CREATING_UNIT = { outgoing: 'limits', namedAmounts: 'one', holdDuration: 'one' } as const;

/**
 * A payment with `risk` has the terms of the unit that it is created under. Where that names none, its refunds would have
 * no limit, a part would move the whole, or a hold be captured too late.
 */
function lostTerms(byName: Readonly<Record<string, unknown>>): string[] {
  const named = z.looseObject({ riskUnit: z.string().optional() });
  const unnamed: Readonly<Record<string, unknown>> = DEFAULT_TERMS;
  return Object.entries(byName).flatMap(([name, value]) => {
    const unit = named.safeParse(value).data;
    const { riskUnit = name } = unit ?? {};
    if (unit === undefined || !Object.hasOwn(byName, riskUnit)) return [];
    const other = named.safeParse(byName[riskUnit]).data;
    return Object.entries(OF_CREATING_UNIT)
      .filter(([term]) => other?.[term] === undefined && ![undefined, unnamed[term]].includes(unit[term]))
      .map(
        ([term, such]) =>
          `${name}: ${term} does not count for payments with risk, which are created under "${riskUnit}"; give that unit ${such} too`,
      );
  });
}

/** Events contain only the app id: with a shared one, neither the signing key nor the flow could be determined. */
function sharedAppIds(units: ReadonlyMap<string, ReadableUnit>): string[] {
  const owners = new Map<string, string>();
  return [...units.values()].flatMap(({ name, appId }) => {
    if (appId === undefined) return [];
    const owner = owners.get(appId);
    owners.set(appId, name);
    return owner === undefined ? [] : [`${name}: appId is the same as that of "${owner}"; use one unit per app id`];
  });
}

/** Finds keys too weak for live money: with a known key anyone could sign a unit's events and so settle payments. */
export function findWeakKeys(units: ReadonlyMap<string, ReadableUnit>): string[] {
  return [...units.values()].flatMap(({ name, privateKey, publicKey, previousPrivateKeys }) =>
    [
      { field: 'privateKey', key: privateKey },
      ...previousPrivateKeys.map((key, at) => ({ field: `previousPrivateKeys.${at}`, key })),
      { field: 'publicKey', key: publicKey },
    ].flatMap(({ field, key }) => {
      if (key === undefined) return [];
      if (/^sandbox-(?:private|public)-key/.test(key)) {
        return [`${name}: ${field} is a key of the sandbox, which everybody knows; give the live one`];
      }
      if (field === 'publicKey' || key.length >= SHORTEST_LIVE_KEY) return [];
      return [`${name}: ${field} is shorter than ${SHORTEST_LIVE_KEY} characters, too short for a live key`];
    }),
  );
}
