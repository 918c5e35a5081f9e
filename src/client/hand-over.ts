import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { cutAttribute } from '../contract/cut-attribute.js';
import { SIGNAL_NAMES } from '../contract/names.js';
import { type HandOver, NOTIFICATIONS_FLOW } from '../contract/notifications.js';

const businessUnit = defineSearchAttributeKey('BusinessUnit', SearchAttributeType.KEYWORD);

/** Gives notifications to the flow that sends those of `call.workflowId`, and starts it if none is open. */
export async function handOver(client: Client, call: HandOver): Promise<void> {
  const { type, title, taskQueue, workflowId } = NOTIFICATIONS_FLOW;
  const input = { workflowId: call.workflowId };
  await client.workflow.signalWithStart(type, {
    workflowId: workflowId(input),
    taskQueue,
    args: [input],
    signal: SIGNAL_NAMES.notify,
    signalArgs: [call],
    typedSearchAttributes: [{ key: businessUnit, value: cutAttribute(call.businessUnit) }],
    staticSummary: `${title} ${call.workflowId}`,
  });
}
