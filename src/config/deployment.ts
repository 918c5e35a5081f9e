import { z } from 'zod';
import { show } from '../contract/fields.js';
import { DEPLOYMENT_NAME } from '../contract/names.js';
import { variables } from './variables.js';

export const buildId = z.string().exactOptional().register(variables, {
  name: 'HOLDFAST_BUILD_ID',
  readBy: 'worker',
  description:
    'Name of the build, such as a commit: the worker is then one version of its deployment, and gets work once that is made current ([production.md](production.md#deploy))',
  absent: 'none: workers are not versioned',
});

export const controllerBuildId = z.string().exactOptional().register(variables, {
  name: 'TEMPORAL_WORKER_BUILD_ID',
  readBy: 'worker',
  description: "`HOLDFAST_BUILD_ID`, as Temporal's Worker Controller sets it",
});

export const deploymentName = z
  .string()
  .refine(
    (name) => !/[.:]/.test(name),
    'leave out dots and colons, which Temporal puts between this name and that of a build',
  )
  .prefault(DEPLOYMENT_NAME)
  .register(variables, {
    name: 'TEMPORAL_DEPLOYMENT_NAME',
    readBy: 'worker, `holdfast`',
    description: "The worker deployment whose versions the builds are; Temporal's Worker Controller sets it",
  });

/** The name of the build, by either variable. A controller whose build never polls would wait for ever. */
export function buildIdOf(
  given: string | undefined,
  byController: string | undefined,
  faults: string[],
): string | undefined {
  if (given !== undefined && byController !== undefined && given !== byController) {
    faults.push(
      `HOLDFAST_BUILD_ID=${show(given)}: TEMPORAL_WORKER_BUILD_ID is ${show(byController)}, and a build has one name: keep one of them`,
    );
  }
  return given ?? byController;
}
