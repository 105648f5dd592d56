/**
 * Which way things flow: services → control, loops → ports → task. Each rule says what its absence would cost.
 */
const IMPLEMENTATIONS = '^shared/(stores|transports|fetchers|sinks)/';

export default {
  forbidden: [
    {
      name: 'the-domain-is-pure',
      comment:
        'shared/task holds decisions, as values in and values out: whatever it imported, every test of it would have to set up.',
      severity: 'error',
      from: { path: '^shared/task/' },
      to: {
        pathNot:
          '^shared/task/|^node:crypto$|^crypto$|node_modules/(zod|htmlparser2|ipaddr\\.js|tldts)/|^(net|url|querystring)$',
      },
    },
    {
      name: 'ports-speak-crawl-words',
      comment:
        'A port is read by who implements it and by who uses it: it names the domain, and no client whose types would leak into both.',
      severity: 'error',
      from: { path: '^shared/ports/' },
      to: { pathNot: '^shared/(ports|task)/|^shared/runtime/lifecycle\\.ts$|node_modules/zod/' },
    },
    {
      name: 'runtime-knows-no-crawl',
      comment: 'Clock, log, errors and files serve every room: one that knew of another would tie all to it.',
      severity: 'error',
      from: { path: '^shared/runtime/' },
      to: { path: '^(shared|services)/', pathNot: '^shared/runtime/' },
    },
    {
      name: 'control-and-loops-stand-on-ports',
      comment:
        'A terminal and a web page ask the same questions, and embedded and fleet run the same loops: neither may know which store answers.',
      severity: 'error',
      from: { path: '^shared/(control|loops)/' },
      to: {
        path: '^(shared|services)/|node_modules/commander/',
        pathNot: '^shared/(control|loops|ports|task|runtime|settings)/',
      },
    },
    {
      name: 'shared-knows-no-service',
      comment: 'What all services share can belong to none of them.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^services/' },
    },
    {
      name: 'services-are-strangers',
      comment: 'A producer and a worker run in different containers: one that imported the other would drag it along.',
      severity: 'error',
      from: { path: '^services/(producer|worker)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'roots-are-strangers',
      comment:
        'The command line starts the API, and the API knows no command line: what both need lies in services/process or shared/control.',
      severity: 'error',
      from: { path: '^services/(api|process|library)/' },
      to: { path: '^services/(cli|api|library)/', pathNot: '^services/$1/' },
    },
    {
      name: 'only-backends-chooses',
      comment: 'If anything but the backends named an implementation, a new one could not take its place by a setting.',
      severity: 'error',
      from: { path: '^(services|shared|crawlers)/', pathNot: `^shared/backends/|${IMPLEMENTATIONS}` },
      to: { path: IMPLEMENTATIONS },
    },
    {
      name: 'implementations-keep-to-themselves',
      comment:
        'An implementation imports its port, and what stands beside it for all of its kind: one that leaned on another could not be left out.',
      severity: 'error',
      from: { path: '^shared/(stores|transports|fetchers|sinks)/([a-z]+)/' },
      to: {
        path: IMPLEMENTATIONS,
        pathNot: '^shared/$1/$2/|^shared/$1/[a-z-]+.ts$|^shared/fetchers/(proxies|decoding)/',
      },
    },
    {
      name: 'the-dashboard-is-a-browsers',
      comment:
        'It is compiled for browsers: whatever it imported of a service or a store would run there, where no file or socket is.',
      severity: 'error',
      from: { path: '^services/api/dashboard/src/' },
      to: {
        pathNot:
          '^services/api/dashboard/src/|^shared/control/(format|table/record-columns)\\.ts$|^shared/task/|node_modules/(preact|uplot)/',
      },
    },
    {
      name: 'nobody-imports-the-dashboard',
      comment: 'The API serves its files. What imported its source would need a compiler in the image.',
      severity: 'error',
      from: { path: '^(services|shared)/', pathNot: '^services/api/dashboard/' },
      to: { path: '^services/api/dashboard/' },
    },
    {
      name: 'metrics-have-one-room',
      comment:
        'Whoever is measured knows a port: the client of Prometheus can be replaced, and costs nothing while it is off.',
      severity: 'error',
      from: { path: '^(services|shared|crawlers)/', pathNot: '^shared/metrics/' },
      to: { path: 'node_modules/prom-client/' },
    },
    {
      name: 'no-circles',
      comment: 'Two files that need each other are one file, or three.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-strays',
      comment: 'A file that nothing imports is dead, or a test that nothing runs.',
      severity: 'error',
      from: { orphan: true, pathNot: '^(crawlers|bench|examples)/|\\.config\\.ts$' },
      to: {},
    },
    {
      name: 'no-undeclared-package',
      comment: 'It would work here and be missing in the image.',
      severity: 'error',
      // The dashboard's packages are compiled into it.
      from: { path: '^(services|shared|crawlers)/', pathNot: '^services/api/dashboard/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'], pathNot: '@types' },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^services/api/dashboard/dist/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
