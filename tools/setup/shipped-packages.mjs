/**
 * The paths of the lock file that an installation has which asks for these packages: they and all that they need, also
 * where the lock file keeps them as needed for development.
 * @param names packages that the root asks for
 * @param optional whether what is optional, such as the binary of one platform, counts
 */
export function shippedPackages(lock, names, { optional = true } = {}) {
  const found = new Set();
  const visit = (name, from) => {
    const path = placeOf(lock, name, from);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = lock.packages[path];
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    const wanted = [...Object.keys(dependencies), ...peers, ...(optional ? Object.keys(optionalDependencies) : [])];
    for (const other of wanted) visit(other, path);
  };
  for (const name of names) visit(name, '');
  return found;
}

/** Where Node would find it: in the nearest `node_modules` on the way up. */
function placeOf(lock, name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (lock.packages[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}
