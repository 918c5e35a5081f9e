import { createRequire } from 'node:module';

/** A part of Holdfast was used without the packages that it needs. The message says how to install them. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError';
}

/**
 * Loads a part that needs packages which a service that only calls the client does not install.
 * @param entry of the package, such as `holdfast/worker`
 * @throws MissingPackageError
 */
export async function loadPart<Part>(
  entry: string,
  packages: readonly string[],
  load: () => Promise<Part>,
): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !packages.some((name) => isMissing(error, name))) throw error;
    const { peerDependencies } = createRequire(import.meta.url)('holdfast/package.json') as {
      peerDependencies: Record<string, string>;
    };
    const exact = packages.map((name) => `${name}@${peerDependencies[name]}`).join(' ');
    throw new MissingPackageError(
      `${entry} needs packages that are installed only where they are used: npm install ${exact}`,
      { cause: error },
    );
  }
}

function isMissing(error: Error & { code?: string }, name: string): boolean {
  const isNotFound = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return isNotFound && error.message.includes(`'${name}`);
}
