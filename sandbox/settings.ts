import { z } from 'zod';

/** Settings that the control API can change while the sandbox runs. They are kept across restarts. */
export interface Settings {
  /** How long a `Pending` mock transaction stays pending, in ms. */
  pendingMs: number;
  /** First pause before an event is resent, in ms; each further one is twice as long, at most an hour. */
  resendFirstMs: number;
  /** Delay of an event after its change, in ms: a real service sends events later than its answer. */
  eventDelayMs: number;
  /** How long the provider holds an authorization's funds, in ms. A change applies to later authorizations only. */
  holdMs: number;
  /** `parallel`: the first attempts of two events of one payment may be under way at once, and arrive in any order. */
  eventOrder: 'kept' | 'parallel';
}

const DAY_MS = 86_400_000;

export const DEFAULT_SETTINGS: Settings = {
  pendingMs: 10_000,
  resendFirstMs: 1_000,
  eventDelayMs: 200,
  holdMs: 7 * DAY_MS,
  eventOrder: 'kept',
};

/** Settings of one process from its environment variables. */
export interface ProcessSettings {
  port: number;
  host: string;
  stateDir: string;
  logLevel: string;
  webhookUrl?: string;
  publicUrl?: string;
  settings: Partial<Settings>;
}

const integer = (min: number, max: number, fallback?: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be an integer from ${min} to ${max}`)
    .optional()
    .transform((value) => value ?? fallback);

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional();
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const environment = z.object({
  HOLDFAST_SANDBOX_PORT: integer(0, 65_535, 4010),
  HOLDFAST_BIND_ADDRESS: z.string().default('127.0.0.1'),
  HOLDFAST_STATE_DIR: z.string().default('.holdfast'),
  HOLDFAST_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  HOLDFAST_SANDBOX_WEBHOOK_URL: httpUrl,
  HOLDFAST_SANDBOX_PUBLIC_URL: httpUrl,
  HOLDFAST_SANDBOX_PENDING_MS: integer(0, 7 * DAY_MS),
  HOLDFAST_SANDBOX_RESEND_FIRST_MS: integer(1, DAY_MS),
  HOLDFAST_SANDBOX_EVENT_DELAY_MS: integer(0, DAY_MS),
  HOLDFAST_SANDBOX_HOLD_MS: integer(1, 365 * DAY_MS),
});

/** Reads the sandbox's environment variables; an empty one counts as missing. Throws with all faults, one per line. */
export function settingsFromEnvironment(env: NodeJS.ProcessEnv): ProcessSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = issue.path.join('.');
      return `${name}=${String(given[name])}: ${issue.message}`;
    });
    throw new Error(faults.join('\n'));
  }
  const { data } = parsed;
  return {
    port: data.HOLDFAST_SANDBOX_PORT ?? 4010,
    host: data.HOLDFAST_BIND_ADDRESS,
    stateDir: data.HOLDFAST_STATE_DIR,
    logLevel: data.HOLDFAST_LOG_LEVEL,
    ...(data.HOLDFAST_SANDBOX_WEBHOOK_URL === undefined ? {} : { webhookUrl: data.HOLDFAST_SANDBOX_WEBHOOK_URL }),
    ...(data.HOLDFAST_SANDBOX_PUBLIC_URL === undefined ? {} : { publicUrl: data.HOLDFAST_SANDBOX_PUBLIC_URL }),
    settings: {
      ...(data.HOLDFAST_SANDBOX_PENDING_MS === undefined ? {} : { pendingMs: data.HOLDFAST_SANDBOX_PENDING_MS }),
      ...(data.HOLDFAST_SANDBOX_RESEND_FIRST_MS === undefined
        ? {}
        : { resendFirstMs: data.HOLDFAST_SANDBOX_RESEND_FIRST_MS }),
      ...(data.HOLDFAST_SANDBOX_EVENT_DELAY_MS === undefined
        ? {}
        : { eventDelayMs: data.HOLDFAST_SANDBOX_EVENT_DELAY_MS }),
      ...(data.HOLDFAST_SANDBOX_HOLD_MS === undefined ? {} : { holdMs: data.HOLDFAST_SANDBOX_HOLD_MS }),
    },
  };
}
