/**
 * Which way things flow: services → ports → task. Each rule says what its absence would cost.
 *
 * Ports are the files directly under shared/; their implementations stand in the folders beside them.
 */
const IMPLEMENTATIONS =
  '^shared/(frontiers|transports|host-gates|response-caches|fetchers|robots-stores|sinks|rosters|connections)/';

export default {
  forbidden: [
    {
      name: 'the-domain-is-pure',
      comment:
        'shared/task holds decisions, as values in and values out: whatever it imported, every test of it would have to set up.',
      severity: 'error',
      from: { path: '^shared/task/' },
      to: {
        pathNot: '^shared/task/|^node:crypto$|^crypto$|node_modules/(zod|htmlparser2|ipaddr\\.js|tldts)/|^(net|url)$',
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
      name: 'only-backends-chooses',
      comment: 'If anything but the backends named an implementation, a new one could not take its place by a setting.',
      severity: 'error',
      from: {
        path: '^(services|shared|crawlers)/',
        pathNot: `^shared/(record-|embedded-)?backends\\.ts$|${IMPLEMENTATIONS}`,
      },
      to: { path: IMPLEMENTATIONS, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'implementations-keep-to-themselves',
      comment:
        'An implementation imports its port. Gate and cache share the scripts and hosts of the frontier they stand beside: a pause is one fact.',
      severity: 'error',
      from: { path: '^shared/([a-z-]+)/', pathNot: '^shared/(task|crawler)/' },
      to: {
        path: IMPLEMENTATIONS,
        pathNot: '^shared/$1/|^shared/frontiers/(redis/scripts|memory/hosts)\\.ts$',
      },
    },
    {
      name: 'ports-speak-crawl-words',
      comment: 'A client type in a port leaks its library into every implementation and every test.',
      severity: 'error',
      from: { path: '^shared/[a-z-]+\\.ts$', pathNot: '^shared/((record-|embedded-)?backends|logger|settings)\\.ts$' },
      to: { path: 'node_modules/(amqplib|ioredis|got|pino|pg)/' },
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
      from: { path: '^(services|shared|crawlers)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'], pathNot: '@types' },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
