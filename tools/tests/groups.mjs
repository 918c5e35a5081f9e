/**
 * Which files a run includes, and how. `vitest.config.mjs` makes its projects from these lists; the summary names the
 * files that are left out. Names are relative to `test/`, without `.test.ts`.
 */

/** Files that run only in the full run, with the reason. A file that is named on the command line always runs. */
export const ONLY_AT_FULL_COUNTS = {
  'activities/reference-book': 'what the workflow is told; simulation/rules/reference-book shows what it does then',
  'activities/every-failure':
    'every answer in every version; activities/classification and the provider tests show the rules',
  'console/in-a-browser':
    'boots a stack, and a browser that CI installs; console/guard has the refusals, console/server the answers',
  'demo/demo': 'boots the whole demo; npm start shows it to everybody',
  'examples/languages':
    'boots the whole stack and builds programs in other languages; docs/raw-starts sends the same by the CLI',
  'guarantees/events-through-any-outage':
    'on real processes; simulation/campaign has handlers and engines away, webhook/process a real one',
  'guarantees/every-crash-point':
    'a sample on real processes; simulation/crash-points has every point of every type of flow',
  'guarantees/every-crash-point-of-commands':
    'a sample on real processes; simulation/crash-points has every point of every command',
  'guarantees/a-restore-moves-nothing-twice':
    'kills and restores a real server; simulation/rules/restore does so from every state of every flow',
  'guarantees/hostile-answers': 'a campaign on real processes; simulation/campaign has the same faults',
  'guarantees/hostile-profiles': 'a campaign for each profile; the profiles have tests under sandbox',
  'guarantees/killed-worker': 'a campaign; simulation/crash-points kills at chosen moments',
  'guarantees/lost-replies': 'a campaign on real processes; simulation/campaign has the same faults',
  'guarantees/chaos-of-every-flow': 'a campaign on real processes; simulation/campaign runs the same courses of events',
  'guarantees/nothing-outside-wedges-a-flow':
    'a worker and a service of its own; simulation/rules/{settling,key-rotation} send what nobody can read',
  'guarantees/replays-after-heartbeats': 'waits for heartbeats; replay/replay has such histories',
  'guarantees/chaos-of-charges': 'a campaign on real processes; simulation/campaign is a simulated one',
  'guarantees/webhook-acknowledged-once-durable':
    'on real processes; webhook/process has Temporal away, simulation/campaign forges, repeats and loses events',
  'cli/key-rotation': 'on real processes; simulation/rules/key-rotation has both orders, for every kind of message',
  'cli/notifications':
    'on a real server and worker; simulation/rules/{notifications,hand-over} tell and send again by the same command',
  'cli/subscriptions': 'on a real server; simulation/rules give flows the same commands, cli/show prints them',
  'reconcile/on-temporal':
    '10,000 payments on a real server; simulation/rules/reconcile plants every kind of difference among a few',
  'replay/releases': 'npm run verify has it as a step of its own; npm test of what is not released has no need of it',
  'security/every-message':
    'bundles workflows for a real server; security/payload-flow compares, and the simulation gives the same contexts',
  'sandbox/survival': 'kills a real sandbox; sandbox/store shows what it keeps on disk',
  'tools/kubernetes-rendered': 'renders each overlay; tools/kubernetes reads the manifests as they stand',
  'tools/network-policies': 'renders overlays, as tools/kubernetes-rendered',
  'tools/kubernetes-schema': 'fetches the schemas of Kubernetes; tools/kubernetes compares with our own',
  'rig/rig': 'runs the compose file with real processes for minutes; tools/compose has its rules',
  'tools/start': 'boots the whole stack five times; every set-up with npm start boots it once',
  'reference-book/on-temporal':
    'a PostgreSQL, a worker and a real server; simulation/rules/reference-book shows the flows',
  'reference-book/postgres': 'starts a PostgreSQL; simulation/rules/reference-book shows what flows do with a book',
  'simulation/rules/export': 'cli/list exports what has ended on a real server',
  'simulation/rules/restored-with-book': 'simulation/rules/reference-book shows what flows do with a book',
  'simulation/rules/restored-flows': 'one case each; simulation/rules/restore has every state of every flow',
  'simulation/campaign-other-half': 'simulation/campaign runs all that a short run has',
  'workers/temporal-cloud':
    'a Temporal by TLS with real processes; client/{engine-connection,namespace,set-up-namespace} have the rules',
  'workers/awaits-setup':
    'on real processes; client/{namespace,set-up-namespace} have every fault, workers/check-namespace a server',
  'webhook/traces': 'boots a stack that traces',
  'workers/metrics': 'boots a stack; docs/metrics compares names, webhook/process scrapes the webhook handler',
  'workflows/deploy-drill':
    'deploys workers; simulation/rules/move-on shows what moves when, cli/deploy what the command says',
  'workflows/subscription-deploys': 'deploys workers; workflows/subscription shows the billing',
};

/**
 * Files that `npm test` leaves to `npm run verify`, so that it stays cheap enough to be run all day, each with what shows the
 * same promise there. CI runs all of them.
 */
export const LEFT_TO_VERIFY = {
  'activities/proof-in-engine': 'boots a server; activities/heartbeats has what a beat proves',
  'cli/show': 'boots a server; cli/events has a command of the CLI on one',
  'client/in-memory-as-real': 'asks the real client the same; client/in-memory-holdfast has the one in memory',
  'client/engine-away': 'waits for a Temporal that is away; client/engine-connection has what is told',
  'config/process': 'starts each program with faulty settings; config/config has every fault',
  'contract/card-numbers': 'numbers of every length; contract/card-number-limits has the borders',
  'contract/free-text': 'every field in turn; contract/json-schemas has their limits',
  'docs/raw-starts':
    'starts flows by the CLI on a whole stack; npm start boots one, cli/events and webhook/process drive real processes',
  'docs/visibility-queries': 'asks a server what the pages print; cli/list asks one by the same attributes',
  'guarantees/hostile-requests': 'every field in turn; contract/input-schemas has what is refused',
  'sandbox/documentation': 'compares a page with what is served; sandbox/versions has what is served',
  'sandbox/fuzz': 'thousands of random requests; sandbox/hostile-input has the known ones',
  'simulation/rules/amounts-to-come': 'amounts over months; domain/bills-to-come has them',
  'simulation/rules/asked-often': 'questions without end; simulation/rules/repeated-asks has those of a day',
  'simulation/rules/billing': 'bills of months; time/subscription has those of three years',
  'simulation/rules/billing-resets':
    'resets of subscriptions at chosen moments; guarantees/one-period-is-billed-once has those of a bill',
  'simulation/rules/billing-short-runs': 'runs of few events; workflows/carry has what goes along from run to run',
  'simulation/rules/bills': 'the bills of months; domain/bills-to-come has them',
  'simulation/rules/braked-holds': 'holds of a braked unit; simulation/rules/brakes has the brake',
  'simulation/rules/bulk': 'hundreds of subscriptions; time/subscription-commands has each command',
  'simulation/rules/calls-per-second': 'hundreds of flows; activities/rate-limit has the order of the classes',
  'simulation/rules/cancels-at-period-end': 'every way to it over weeks; time/subscription-commands has the cancel',
  'simulation/rules/card-limits': 'months of declined tries; domain/card-tries has the limits',
  'simulation/rules/changed-cards': 'cards of running subscriptions; time/subscription-commands has the command',
  'simulation/rules/changed-terms': 'changes of running subscriptions; time/subscription-commands has each command',
  'simulation/rules/disputes':
    'disputes over weeks; webhook/disputes has the events, simulation/rules/dispute-races the reads',
  'simulation/rules/dunning':
    'months of declined bills; domain/dunning has the policies, guarantees/one-period-is-billed-once the bills',
  'simulation/rules/ends-amid-news': 'an event in the last moment; guarantees/events-in-any-order has every order',
  'simulation/rules/ends-of-waits': 'borders of runs; workflows/carry has what goes along',
  'simulation/rules/hand-over': 'moments of the hand-over; simulation/rules/notifications tells every end',
  'simulation/rules/interface-only': 'a service with no more than the interface; simulation/campaign has such units',
  'simulation/rules/interface-only-holds':
    'a service with no more than the interface; simulation/campaign has such units',
  'simulation/rules/key-rotation':
    'both orders of a change of keys; simulation/rules/lacking-keys has a key that is not there',
  'simulation/rules/keys-taken-away':
    'what still needs an old key; simulation/rules/lacking-keys has a key that is not there',
  'simulation/rules/late-news-of-commands':
    'each late contradiction of a command; simulation/rules/kept-events has the way of an event',
  'simulation/rules/late-news-of-holds':
    'each late contradiction of a hold; simulation/rules/kept-events has the way of an event',
  'simulation/rules/late-news-of-the-creating-flow':
    'each late contradiction of another flow; simulation/rules/kept-events has the way of an event',
  'simulation/rules/live-changes': 'changes of running subscriptions; time/subscription-commands has each command',
  'simulation/rules/long-waits': 'months of waiting; workflows/carry has what goes along from run to run',
  'simulation/rules/looks': 'holds that ended elsewhere; time/hold has their deadlines',
  'simulation/rules/metered': 'amounts over months; domain/bills-to-come has them',
  'simulation/rules/notices': 'notices over months; domain/bills-to-come has the bills',
  'simulation/rules/operators-get-through': 'hundreds of commands; time/operator has what a person may do',
  'simulation/rules/other-app-id': 'a unit that was set wrongly; client/engine-port has what is compared',
  'simulation/rules/outgoing-doubts':
    'a counter that can not be reached; simulation/rules/outgoing-limits has the limits',
  'simulation/rules/pending-deadline': 'what pends for good; simulation/rules/voids-of-pending has the void',
  'simulation/rules/plan-and-pause':
    'changes of the plan amid a pause; domain/changed-plans has their days and amounts',
  'simulation/rules/reconcile': 'every difference among a few payments; reconcile/properties has the comparison',
  'simulation/rules/reconcile-runs': 'reconciliations over several runs; reconcile/properties has the comparison',
  'simulation/rules/reset-commands':
    'resets to each task; guarantees/money-moves-at-most-once-after-a-reset has every flow',
  'simulation/rules/reset-evidence':
    'resets to each task; guarantees/money-moves-at-most-once-after-a-reset has every flow',
  'simulation/rules/reset-holds':
    'resets to each task; guarantees/money-moves-at-most-once-after-a-reset has every flow',
  'simulation/rules/reset-reauthorizations':
    'resets to chosen moments; guarantees/money-moves-at-most-once-after-a-reset has every flow',
  'simulation/rules/reset-twice':
    'two resets of one run; guarantees/money-moves-at-most-once-after-a-reset has every flow',
  'simulation/rules/resets-amid-reauthorizations':
    'resets to chosen moments; guarantees/money-moves-at-most-once-after-a-reset has every flow',
  'simulation/rules/resets-of-cancelled':
    'resets of cancelled subscriptions; guarantees/one-period-is-billed-once has those of a bill',
  'simulation/rules/resets-of-plan-and-pause':
    'resets of subscriptions at chosen moments; guarantees/one-period-is-billed-once has those of a bill',
  'simulation/rules/resets-to-each-task':
    'resets to each task; guarantees/money-moves-at-most-once-after-a-reset has every flow',
  'simulation/rules/restored-reauthorizations':
    'restores around one moment; simulation/rules/restore has every state of every flow',
  'simulation/rules/resets-with-gaps':
    'resets of subscriptions at chosen moments; guarantees/one-period-is-billed-once has those of a bill',
  'simulation/rules/short-runs': 'runs of twelve events; workflows/carry has what goes along from run to run',
  'simulation/rules/slow-unit': 'hundreds of callers; activities/bulkhead has the places',
  'simulation/rules/told-by-an-event': 'days of reads; simulation/rules/provider-errors has the hour of them',
  'simulation/rules/unopened': 'months without an answer; workflows/subscription has the sign-up',
  'simulation/rules/voids-after-capture':
    'voids of what a capture left; simulation/rules/voids-of-pending has the void',
  'simulation/rules/voids-of-late-captures':
    'voids of what pends late; simulation/rules/voids-of-pending has them in the flow',
  'simulation/rules/while-approval-waits':
    'commands beside one that waits; simulation/rules/approvals has the approval',
  'simulation/rules/written-in-clear':
    'every message that somebody wrote in clear; security/payload-flow has what is believed',
  'time/late-payment': 'days of reads; simulation/rules/absence has what proves an absence',
  'time/review': 'reviews of days; workflows/risk has the review',
  'tools/supervised-process': 'kills real processes; tools/shared-test-server ends one',
  'webhook/event-sink': 'boots a server; webhook/process drives a real handler against one',
};

/** Files that a run of this kind leaves out, with the reason. A file that is named on the command line always runs. */
export function leftOutOf(kind) {
  if (kind === 'short') return { ...LEFT_TO_VERIFY, ...ONLY_AT_FULL_COUNTS };
  return kind === 'verify' ? ONLY_AT_FULL_COUNTS : {};
}

/** Files that depend on timing or need the whole machine for hundreds of flows. They run last, one at a time. */
export const ALONE_AT_FULL_COUNTS = [
  'rig/rig',
  'guarantees/every-crash-point',
  'guarantees/every-crash-point-of-commands',
  'guarantees/hostile-profiles',
  'guarantees/chaos-of-every-flow',
  'guarantees/money-moves-at-most-once-after-a-reset',
  'guarantees/chaos-of-charges',
];

/**
 * Folders whose files, with exceptions, drive flows in the simulation. These files share processes, which must never
 * have a real connection: its timers would run on virtual time. All other files share processes too, because each would
 * otherwise load the same modules again.
 */
export const SIMULATED_FOLDERS = ['activities', 'client', 'guarantees', 'replay', 'simulation', 'time', 'workflows'];

/** Files of these folders that use real processes or real connections. */
export const NOT_SIMULATED = [
  'activities/proof-in-engine',
  'activities/refund-by-engine',
  'client/engine-away',
  'client/engine-connection',
  'guarantees/a-restore-moves-nothing-twice',
  'guarantees/events-through-any-outage',
  'guarantees/every-crash-point',
  'guarantees/every-crash-point-of-commands',
  'guarantees/chaos-of-every-flow',
  'guarantees/nothing-outside-wedges-a-flow',
  'guarantees/replays-after-heartbeats',
  'guarantees/chaos-of-charges',
  'guarantees/webhook-acknowledged-once-durable',
  'replay/record',
  'workflows/deploy-drill',
  'workflows/subscription-deploys',
];

/** The longest files, for runs without recorded timings. They start first, so that the run doesn't end with them. */
export const LONGEST = [
  'simulation/campaign',
  'simulation/campaign-other-half',
  'simulation/crash-points',
  'simulation/conformance',
  'guarantees/chaos-of-every-flow',
  'guarantees/one-period-is-billed-once',
  'replay/replay',
  'workflows/store-card',
  'guarantees/unknown-is-a-state',
  'tools/start',
  'guarantees/events-through-any-outage',
  'guarantees/webhook-acknowledged-once-durable',
  'guarantees/no-card-data-in-histories',
  'guarantees/nothing-outside-wedges-a-flow',
  'guarantees/keys-expire-before-we-stop-being-careful',
  'workflows/risk',
  'guarantees/a-late-refusal-is-not-believed',
  'guarantees/money-moves-at-most-once',
  'time/store-card',
  'time/subscription-commands',
  'workflows/subscription',
  'webhook/process',
  'contract/json-schemas',
  'docs/raw-starts',
  'boundaries/workflow-bundle',
  'sandbox/fuzz',
];

/**
 * Files that the full run repeats on real processes and a real server, to cover the boundaries that a simulation can't.
 * In other runs only files that are not simulated and not left out cover them, above all docs/raw-starts and webhook/process.
 */
export const ON_REAL_PROCESSES = [
  'guarantees/events-in-any-order',
  'guarantees/no-card-data-in-histories',
  'time/settling',
  'time/subscription',
  'workflows/authorize-and-capture',
  'workflows/charge',
  'workflows/commands',
  'workflows/payment-actions',
  'workflows/risk',
  'workflows/store-card',
  'workflows/subscription',
];

/** Name of a file in a run. A file that runs twice has two names. */
export const nameOfRun = (file, project) => (project === 'real' ? `${file} on real processes` : file);

export const fileOf = (name) => `test/${name}.test.ts`;
