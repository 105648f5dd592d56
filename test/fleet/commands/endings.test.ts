import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { LoopbackServer } from '../../support/listeners/loopback-server.ts';
import { commandLines, eachLine, everyCommand } from '../../support/processes/command-lines.ts';
import { type Fleet, openFleet } from '../../support/processes/fleet.ts';
import { type Ended, openWorkplace } from '../../support/processes/trawl.ts';
import { letterOf, publishLetters } from '../../support/stores/letters.ts';
import { mountSmallDisk } from '../../support/stores/small-disk.ts';

const LETTER = 'http://a.test/gone';
const FULL_DEVICE = ['sh', '-c', 'exec "$@" > /dev/full', 'sh'];
const FOLDER_AS_INPUT = ['sh', '-c', 'exec "$@" < /', 'sh'];
/** A file that opens but can't be read. */
const BROKEN_FILE = '/proc/self/mem';

// biome-ignore format: a table
const FILES: readonly (readonly [args: readonly string[], code: number, said: string])[] = [
  [[BROKEN_FILE],                             1,  `${BROKEN_FILE} can't be read: EIO`],
  [['--urls-file', BROKEN_FILE],              1,  `${BROKEN_FILE} can't be read: EIO`],
  [['.'],                                     2,  '. is a folder, not a file'],
  [['--urls-file', '.'],                      2,  '. is a folder, not a file'],
  [['--urls-file', 'no-such-file'],           2,  "no-such-file doesn't exist"],
  [['http://a.test/', '--routes', '.'],       78, ". can't be read: EISDIR"],
  [['http://a.test/', '--host-headers', '.'], 78, ". can't be read: EISDIR"],
];

/** A command that waits for a silent service takes longer; one that doesn't ends much sooner. */
const ENDS_WITHIN_MS = 15_000;
/** For tests that run every command. */
const LONG_MS = 180_000;

/** The lines on standard error, without the log. */
function saidBy({ stderr }: Ended): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

/** Expects what every error output must be: no stack, no talk of a bug, at most three lines. */
function expectPlainWords(name: string, ended: Ended): void {
  expect(ended.stdout + ended.stderr, `${name} shows a stack`).not.toMatch(/^ {2,}at /m);
  expect(ended.stdout + ended.stderr, `${name} takes it for a bug`).not.toContain('a bug in Trawl');
  expect(saidBy(ended).length, `${name}: ${ended.stderr}`).toBeLessThanOrEqual(3);
}

/** A fleet with one dead letter, in which every command can run to its end. */
async function openFleetForAll(): Promise<Fleet & { readonly lines: ReturnType<typeof commandLines> }> {
  const fleet = await openFleet();
  await publishLetters(inject('rabbitmqUrl'), fleet.queuePrefix, [letterOf(LETTER)]);
  return { ...fleet, lines: commandLines({ page: fleet.site.url('/page/1'), letter: LETTER, run: 'mine' }) };
}

/** A server that accepts connections and never sends anything. */
async function openSilentServer(): Promise<{ readonly port: number; connection(): Promise<void> }> {
  let wake: (() => void)[] = [];
  const server = new LoopbackServer(
    createServer((socket: Socket) => {
      server.keep(socket);
      for (const each of wake) each();
      wake = [];
    }),
  );
  await server.listen();
  onTestFinished(() => server.stop());
  return { port: server.port, connection: () => new Promise((resolve) => wake.push(resolve)) };
}

test('every command has a command line in these tests', async () => {
  const lines = commandLines({ page: LETTER, letter: LETTER, run: 'mine' });
  expect(Object.keys(lines).toSorted()).toEqual((await everyCommand()).toSorted());
});

describe('standard output', () => {
  test(
    'on a full disk fails each command with one line and exit code 1',
    async () => {
      const { workplace, lines } = await openFleetForAll();
      await eachLine(lines, async (name, { args, isSilent = false }) => {
        const ended = await workplace.start(args, undefined, { under: FULL_DEVICE }).ended;
        expectPlainWords(name, ended);
        expect([name, ended.code]).toEqual([name, isSilent ? 0 : 1]);
        const last = saidBy(ended).at(-1);
        if (!isSilent)
          expect(last).toMatch(/^trawl: standard output can't be written: ENOSPC: no space left on device/);
      });
    },
    LONG_MS,
  );

  test('closed by its reader keeps the exit code of a failed crawl', async () => {
    const { workplace, site } = await openFleet();
    const args = ['crawl', site.url('/status/404'), '--private-hosts', '127.0.0.0/8'];
    expect((await workplace.start(args, undefined, { closesOutput: true }).ended).code).toBe(1);
  });

  test('closed by its reader ends status --watch with 0 and no message', async () => {
    const { workplace } = await openFleet();
    const { code, stderr } = await workplace.start(['status', '--watch'], undefined, { closesOutput: true }).ended;
    expect([code, stderr.replace(/^\{.*\n/gm, '')]).toEqual([0, '']);
  });
});

describe('a command interrupted while a service never answers', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends at once, names the service, and exits with 130',
    async (signal) => {
      const lines = Object.entries(commandLines({ page: LETTER, letter: LETTER, run: 'mine' }));
      const connecting = lines.filter(([, { connects }]) => connects.length > 0);
      const workplace = await openWorkplace({ LOG_LEVEL: 'info' });
      const endings = connecting.map(async ([name, { args }]) => {
        const service = await openSilentServer();
        const env = {
          REDIS_URL: `redis://:secret@127.0.0.1:${service.port}`,
          RABBITMQ_URL: `amqp://guest:secret@127.0.0.1:${service.port}`,
        };
        const arrival = service.connection();
        const trawl = workplace.start(args, undefined, { env });
        await arrival;
        const signalledAt = performance.now();
        trawl.signal(signal);
        const ended = await trawl.ended;
        expect(performance.now() - signalledAt, name).toBeLessThan(ENDS_WITHIN_MS);
        expectPlainWords(name, ended);
        expect(ended.stderr).toMatch(/interrupted while connecting to (Redis|RabbitMQ) at 127\.0\.0\.1:\d+\. Check R/);
        expect(ended.stderr).not.toContain('secret');
        // A worker is meant to be ended by SIGTERM.
        expect([name, ended.code]).toEqual([name, name === 'work' && signal === 'SIGTERM' ? 0 : 130]);
      });
      await Promise.all(endings);
    },
    LONG_MS,
  );

  test('ends at once and names Postgres if that is the silent service', async () => {
    const postgres = await openSilentServer();
    const workplace = await openWorkplace({ SINK: `postgres://trawl:secret@127.0.0.1:${postgres.port}/trawl` });
    for (const args of [['crawl', LETTER], ['demo'], ['records', 'mine'], ['doctor']]) {
      const arrival = postgres.connection();
      const trawl = workplace.start(args, undefined, { env: { REDIS_URL: 'redis://127.0.0.1:1' } });
      await arrival;
      trawl.signal('SIGINT');
      const ended = await trawl.ended;
      expectPlainWords(args[0] ?? '', ended);
      expect(ended.stderr).toContain(
        `trawl: interrupted while connecting to Postgres at 127.0.0.1:${postgres.port}. Check SINK`,
      );
      expect([args[0], ended.code]).toEqual([args[0], 130]);
    }
  });
});

describe('an output folder', () => {
  test.each(['/proc/trawl', '/dev/null/output', 'a-file', 'a-file/below'])(
    'that cannot be created (%s) is named with its setting, and the exit code is 1',
    async (folder) => {
      const { workplace, site } = await openFleet({}, { OUTPUT_DIR: folder });
      await writeFile(join(workplace.folder, 'a-file'), 'text\n');
      const lines = commandLines({ page: site.url('/page/1'), letter: LETTER, run: 'mine' });
      for (const name of ['crawl', 'demo', 'doctor', 'records']) {
        const ended = await workplace.run(lines[name]?.args ?? []);
        expectPlainWords(name, ended);
        expect([name, ended.code]).toEqual([name, 1]);
        expect(ended.stdout + ended.stderr).toContain(folder);
        expect(ended.stdout + ended.stderr).toContain('OUTPUT_DIR');
        expect(ended.stderr).not.toContain('lock');
      }
      const resumed = await workplace.run(['crawl', '--resume']);
      expectPlainWords('crawl --resume', resumed);
      expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringContaining('OUTPUT_DIR')]);
    },
  );

  test('that cannot be created makes a worker say so and settle nothing, and it can be stopped', async () => {
    const { workplace, site } = await openFleet({}, { OUTPUT_DIR: '/proc/trawl', LOG_FORMAT: 'pretty' });
    const local = ['--private-hosts', '127.0.0.0/8', '--rate', 'none'];
    const worker = workplace.start(['work', ...local]);
    await worker.says(/consuming/);
    await workplace.json(['produce', site.url('/page/1'), '--run', 'mine', ...local]);
    await worker.says(
      /records can't be stored: not consuming \/proc\/trawl\/mine can't be written: ENOENT.*OUTPUT_DIR/,
    );
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    expect(await workplace.json(['status', 'mine'])).toMatchObject({ done: 0, failed: 0 });
  });

  test.for([
    ['read-only', ',ro', 'EROFS'],
    ['full', ',nr_inodes=1', 'ENOSPC'],
  ] as const)(
    'on a disk that is %s is named with its setting, and the exit code is 1',
    async ([, options, code], context) => {
      const workplace = await openWorkplace();
      if ((await mountSmallDisk(join(workplace.folder, 'output'), { options })) === undefined)
        return context.skip('mounting a disk is not allowed here; the folders above stand for it');
      for (const args of [['crawl', LETTER], ['demo'], ['doctor']]) {
        const ended = await workplace.start(args, undefined, {
          env: { REDIS_URL: 'redis://127.0.0.1:1', RABBITMQ_URL: 'amqp://127.0.0.1:1' },
        }).ended;
        expectPlainWords(args[0] ?? '', ended);
        expect(ended.code).toBe(1);
        expect(ended.stdout + ended.stderr).toMatch(
          new RegExp(`output\\S* can't be written: ${code}: .*OUTPUT_DIR, --output-dir`),
        );
      }
    },
  );
});

describe('a file', () => {
  test('that records cannot be written to is named, and the exit code is 1', async () => {
    const workplace = await openWorkplace();
    const { run } = await workplace.json(['demo', '--rate', 'none']);
    const files = { 'no/such/file.csv': 'ENOENT', output: 'EISDIR', '/dev/full': 'ENOSPC', '/proc/x': 'ENOENT' };
    const endings = Object.entries(files).map(async ([file, code]) => {
      const ended = await workplace.run(['records', run, '--format', 'csv', '-o', file]);
      expect(saidBy(ended)).toEqual([
        expect.stringMatching(`^trawl: ${file} can't be written: ${code}: .*Name another file with --output$`),
      ]);
      expect([ended.code, ended.stdout]).toEqual([1, '']);
    });
    await Promise.all(endings);
  });

  test('of URLs that cannot be read is named, with exit code 1, or 2 for a missing file or a folder', async () => {
    const { workplace } = await openFleet();
    const endings = ['crawl', 'produce'].flatMap((command) => [
      ...FILES.map(async ([args, code, said]) => {
        const ended = await workplace.run([command, ...args]);
        expectPlainWords(command, ended);
        expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringContaining(said)]);
      }),
      workplace.start([command, '-'], undefined, { under: FOLDER_AS_INPUT }).ended.then((ended) => {
        expect([ended.code, saidBy(ended)]).toEqual([2, ['trawl: standard input is a folder, not a list of URLs']]);
      }),
    ]);
    await Promise.all(endings);
  });
});

test('a full or closed standard error changes neither the result nor the exit code', async () => {
  const workplace = await openWorkplace();
  for (const redirected of ['exec "$@" 2> /dev/full', 'exec "$@" 2> >(true)']) {
    const under = ['bash', '-c', redirected, 'bash'];
    const ended = await workplace.start(['demo', '--rate', 'none', '--json', '--log-level', 'debug'], undefined, {
      under,
    }).ended;
    expect([ended.code, JSON.parse(ended.stdout).done]).toEqual([0, 41]);
    expect((await workplace.start(['records', 'nothing'], undefined, { under }).ended).code).toBe(1);
  }
});
