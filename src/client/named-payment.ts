import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { defaultPayloadConverter, type TypedSearchAttributes } from '@temporalio/common';
import { eventsOf } from './earlier-runs.js';
import { HoldfastError } from './errors.js';
import { keyword } from './start-options.js';

/** What a caller says of a payment. */
interface Named {
  paymentId: string;
  businessUnit?: string | undefined;
  currency?: string | undefined;
}

/** What is known of it. */
interface Known {
  currency?: string | undefined;
  /** Empty: unknown. */
  units: readonly string[];
}

/**
 * The amount of a command would be one of another currency than the caller means.
 * @throws HoldfastError `InvalidInput` where the flow that made the payment has another currency or business unit
 */
export async function requireAsMade(client: Client, named: Named, flow: WorkflowExecutionDescription): Promise<void> {
  const known = knownBy(flow.typedSearchAttributes);
  const { businessUnit } = named;
  const isOther = businessUnit !== undefined && known.units.some((unit) => unit !== businessUnit);
  // A payment with `risk` is made under another unit than it was asked for: only a caller who names that one costs a read.
  const askedUnder = isOther ? await unitAtStart(client, flow) : undefined;
  const units = [...new Set([...known.units, ...(askedUnder === undefined ? [] : [askedUnder])])];
  requireNamed(named, { ...known, units });
}

/**
 * Of a payment whose maker is unknown, nothing is known but what a caller before has said. Its business unit is that of the
 * open flow whatever a caller names: a payment with `risk` has two.
 * @throws HoldfastError `InvalidInput` where the open flow of its commands has another currency
 */
export function requireAsOpened({ paymentId, currency }: Named, attributes: TypedSearchAttributes): void {
  const wayOut = '. A command before says so: if that is wrong, one with the same is refused, and then yours is taken';
  requireNamed({ paymentId, currency }, knownBy(attributes), wayOut);
}

/** @throws HoldfastError `InvalidInput` where the caller names another currency or business unit */
export function requireNamed({ paymentId, currency, businessUnit }: Named, known: Known, wayOut = ''): void {
  const faults: string[] = [];
  if (currency !== undefined && known.currency !== undefined && currency !== known.currency)
    faults.push(`currency: payment ${paymentId} is in ${known.currency}, not in ${currency}`);
  if (businessUnit !== undefined && known.units.length > 0 && !known.units.includes(businessUnit)) {
    const units = known.units.map((unit) => `"${unit}"`).join(' or ');
    faults.push(`businessUnit: payment ${paymentId} is of ${units}, not of "${businessUnit}"`);
  }
  if (faults.length > 0)
    throw new HoldfastError('InvalidInput', `Nothing was sent: ${faults.join('; ')}${wayOut}`, faults);
}

function knownBy(attributes: TypedSearchAttributes): Known {
  const unit = attributes.get(keyword('BusinessUnit'));
  return { currency: attributes.get(keyword('Currency')), units: unit === undefined ? [] : [unit] };
}

/** undefined if the first run is no longer kept, or was started without its search attributes. */
async function unitAtStart(
  client: Client,
  { workflowId, runId, raw }: WorkflowExecutionDescription,
): Promise<string | undefined> {
  const firstRun = raw.workflowExecutionInfo?.firstRunId || runId;
  for await (const { workflowExecutionStartedEventAttributes: started } of eventsOf(client, workflowId, firstRun)) {
    const payload = started?.searchAttributes?.indexedFields?.['BusinessUnit'];
    return payload == null ? undefined : defaultPayloadConverter.fromPayload<string>(payload);
  }
  return undefined;
}
