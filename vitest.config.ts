import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Cases of other crawlers' suites, read in place from the folder `CASES_DIR`; without it there is no such suite. */
const conformance = process.env.CASES_DIR === undefined ? [] : ['test/conformance/**/*.test.ts'];

/** Contract suites that need no servers run with the unit tests. */
const SERVERLESS = ['test/contract/fetcher*.test.ts'];

/** Tests that judge the whole process, its memory or how busy it is, or that a second of collected garbage makes too late: each file has one of its own. */
const APART = [
  ...SERVERLESS,
  ...conformance,
  'test/unit/services/producer/unpacking.test.ts',
  'test/unit/services/worker/concurrency/load-meter.test.ts',
  'test/unit/shared/fetchers/names/slow-names.test.ts',
  'test/unit/shared/runtime/loop-share.test.ts',
  'test/unit/shared/sinks/jsonl/sink.test.ts',
  'test/unit/shared/sinks/record-json.test.ts',
];

/** How long tests wait for what must happen: as long as what never does may take. A second is soon over where the cores are slow and shared. */
const POLL_MS = { alone: 20_000, withServers: 60_000 };

/** Tests start hundreds of processes: this spares each of them a third of its start. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') };

export default defineConfig({
  test: {
    projects: [
      {
        // For examples, which import the program by its name, as its users do.
        resolve: { alias: [{ find: /^trawl$/, replacement: join(import.meta.dirname, 'shared/crawler/trawl.ts') }] },
        test: {
          name: 'unit',
          env,
          include: ['test/unit/**/*.test.ts'],
          exclude: APART,
          // What they test is loaded once for the files of a process: that takes most of a second for each of hundreds.
          isolate: false,
          testTimeout: 30_000,
          expect: { poll: { timeout: POLL_MS.alone } },
          // More than cores: some tests wait.
          maxWorkers: availableParallelism() + 1,
        },
      },
      {
        test: {
          name: 'unit:apart',
          env,
          include: APART,
          // After the others: beside them, there would be twice as many processes as are good for a machine.
          sequence: { groupOrder: 1 },
          testTimeout: 30_000,
          expect: { poll: { timeout: POLL_MS.alone } },
          maxWorkers: availableParallelism() + 1,
        },
      },
      {
        test: {
          name: 'servers',
          env,
          include: ['test/contract/**/*.test.ts', 'test/fleet/**/*.test.ts'],
          exclude: SERVERLESS,
          isolate: false,
          globalSetup: ['test/support/global-setup.ts'],
          // For what hangs: a test may start twenty processes, each of which takes seconds where the cores are slow and shared.
          testTimeout: 120_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: POLL_MS.withServers } },
          // Half of the time they wait: for servers, and for the pace of hosts.
          maxWorkers: availableParallelism() * 2,
        },
      },
      {
        test: {
          name: 'faults',
          env,
          include: ['test/faults/**/*.test.ts'],
          globalSetup: ['test/faults/harness/global-setup.ts'],
          testTimeout: 120_000,
          expect: { poll: { timeout: POLL_MS.withServers } },
          // As long as a server that starts is waited for.
          hookTimeout: 120_000,
          // Each file breaks servers of its own, and mostly waits.
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/global-setup.ts'],
          testTimeout: 120_000,
          // As long as the browser waits for what a page shows.
          expect: { poll: { timeout: 10_000 } },
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          testTimeout: 300_000,
          sequence: { concurrent: true },
          // Installing, from npm's registry, as some of the tests do.
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'compose',
          include: ['test/compose/**/*.test.ts'],
          globalSetup: ['test/compose/global-setup.ts'],
          testTimeout: 300_000,
          // Building both images, where nothing is cached yet.
          hookTimeout: 600_000,
          bail: 1,
        },
      },
    ],
  },
});
