/**
 * Who may import whom: `npm run imports`. Imports of types count as any other. `test` and `tools/bench` may import anything.
 *
 * `packages`: all that a layer may import, modules of Node included. `temporal`: the packages of Temporal that it may
 * import; all others are free. A layer without either may import any package.
 */
const LAYERS = [
  // Workflows run the contract and the domain: both are pure, and without Node.
  { name: 'contract', files: 'src/contract/', mayImport: ['src/contract/'], packages: ['zod', '@noble/hashes'] },
  {
    name: 'domain',
    files: 'src/domain/',
    mayImport: ['src/(contract|domain)/'],
    packages: ['zod', '@noble/hashes', 'temporal-polyfill', 'csv-parse'],
  },
  // Workflows know activities only by their interfaces in the contract.
  {
    name: 'workflows',
    files: 'workflows/',
    mayImport: ['src/(contract|domain)/', 'workflows/'],
    packages: ['@temporalio/workflow', '@temporalio/common', 'zod'],
  },
  { name: 'provider', files: 'src/provider/', mayImport: ['src/(contract|domain|provider)/'], temporal: [] },
  {
    name: 'security',
    files: 'src/security/',
    mayImport: ['src/(contract|domain|security)/'],
    temporal: ['common', 'proto'],
  },
  {
    name: 'config',
    files: 'src/config/',
    mayImport: ['src/config/', 'src/(contract|domain|security)/'],
    temporal: [],
  },
  {
    name: 'client',
    files: 'src/client/',
    mayImport: ['src/(client|contract|domain|security)/'],
    temporal: ['client', 'common', 'envconfig'],
  },
  {
    name: 'cli',
    files: 'src/cli/',
    mayImport: [
      'src/(cli|client|contract|domain|reference-book|security)/',
      'src/config/',
      'workers/replay-histories\\.ts$',
    ],
    temporal: ['client', 'common', 'envconfig'],
  },
  {
    name: 'reference-book',
    files: 'src/reference-book/',
    mayImport: ['src/reference-book/', 'src/contract/'],
    packages: ['pg'],
  },
  { name: 'webhook', files: 'src/webhook/', mayImport: ['src/(contract|domain|security|webhook)/'], temporal: [] },
  { name: 'index', files: 'src/index\\.ts$', mayImport: ['src/(client|contract)/'], packages: [] },
  {
    name: 'activities',
    files: 'activities/',
    mayImport: ['activities/', 'src/(contract|domain|provider|security)/'],
    temporal: ['activity', 'common'],
  },
  // Workers load the workflows as a bundle.
  { name: 'workers', files: 'workers/', mayImport: ['activities/', 'src/', 'workers/'] },
  // The sandbox checks the code of `src`. If it used that code, both would have the same faults.
  {
    name: 'sandbox',
    files: 'sandbox/',
    mayImport: ['sandbox/', 'src/webhook/signature\\.ts$'],
    temporal: [],
  },
  // What merchants test with: the sandbox in their process, and a client without Temporal.
  {
    name: 'testing',
    files: 'tools/testing/',
    mayImport: ['src/(client|config|contract|domain)/', 'sandbox/', 'tools/testing/'],
    temporal: [],
  },
  // Writes the sandbox's own description of itself.
  { name: 'sandbox-openapi', files: 'tools/sandbox-openapi\\.ts$', mayImport: ['sandbox/openapi/'], temporal: [] },
  {
    name: 'tools',
    files: 'tools/(?!bench/|testing/|sandbox-openapi\\.ts$)',
    mayImport: [
      'src/(client|contract|domain|security|webhook)/',
      'src/config/',
      'sandbox/control\\.ts$',
      // The console lists flows as `holdfast list` does, and is a process as the others are.
      'src/cli/(list|flow-row)\\.ts$',
      // `holdfast` tells by the same as `npm start` whether a stack lives.
      'src/cli/process-identity\\.ts$',
      'workers/process\\.ts$',
      'tools/',
      // Resolved to `dist/`, or, where nothing has been built yet, left as it is written: `../dist/`.
      '(\\.\\./)*dist/',
    ],
  },
];

/** Files that import each other today, by types or by lazy imports. */
const KNOWN_CYCLES = [
  '^test/simulation/engine/',
  '^test/(simulation/simulated-(stack|time)|support/(stack|virtual-time))\\.ts$',
];

function layerRule({ name, files, mayImport, packages, temporal }) {
  const own = mayImport.map((path) => `^${path}`);
  const others =
    packages?.map((name) => `node_modules/${name}/`) ??
    (temporal === undefined
      ? ['node_modules/']
      : ['node_modules/(?!@temporalio/)', ...temporal.map((name) => `node_modules/@temporalio/${name}/`)]);
  return {
    name,
    severity: 'error',
    from: { path: `^${files}` },
    to: { pathNot: [...own, ...others], ...(packages === undefined && { dependencyTypesNot: ['core'] }) },
  };
}

export default {
  forbidden: [
    ...LAYERS.map(layerRule),
    // The command must work where the packages of workers are not installed.
    {
      name: 'core-on-demand',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^workers/', dynamic: false },
    },
    { name: 'no-cycles', severity: 'error', from: { pathNot: KNOWN_CYCLES }, to: { circular: true } },
    // The other rules match resolved paths. `dist` may not have been built yet.
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '/dist/' } },
    {
      name: 'declared',
      severity: 'error',
      from: {},
      // Of a peer that is optional it also says that no package has it.
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['npm-peer'] },
    },
    {
      name: 'installed-in-production',
      severity: 'error',
      from: { path: '^(src|workflows|activities|workers|sandbox|tools/stack)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm-peer'] },
    },
  ],
  options: {
    // dependency-cruiser can't parse with TypeScript 7. swc does not show `import('x').Type`, which oxlint forbids.
    parser: 'swc',
    tsPreCompilationDeps: true,
    moduleSystems: ['es6', 'cjs'],
    doNotFollow: { path: ['node_modules/', '^dist/'] },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
