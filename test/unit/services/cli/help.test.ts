import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../../services/cli/help/examples.ts';
import { HEADINGS } from '../../../../services/cli/help/flags.ts';
import { asHelpFlag, flagsOf, improved, upToUnknown } from '../../../../services/cli/help/help.ts';
import { refuseFlagsAsValues } from '../../../../services/cli/help/missing-values.ts';
import { openProgram } from '../../../../services/cli/program.ts';
import { TRAWL } from '../../../../shared/runtime/started-as.ts';

const MOST_LINES = 50;

async function open(showsAll = false): Promise<Command> {
  return await openProgram({ isWanted: () => true, exit: () => {}, showsAll });
}

/** All commands with the words typed for them, including the program itself. */
function allOf(command: Command, path = command.name()): [string, Command][] {
  return [
    [path, command],
    ...command.commands.flatMap((each) => allOf(each, path === 'trawl' ? each.name() : `${path} ${each.name()}`)),
  ];
}

/** The whole output of `--help`, including the examples. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  return text;
}

test('the help of each command has its examples, fewer than 50 lines and at most 80 columns', async () => {
  for (const [path, command] of allOf(await open())) {
    const help = helpOf(command);
    expect(help.split('\n').length, path).toBeLessThan(MOST_LINES);
    for (const example of EXAMPLES[path] ?? ['no example']) expect(help, path).toContain(`  ${example}`);
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  }
  expect(Object.keys(EXAMPLES)).toEqual(expect.arrayContaining(allOf(await open()).map(([path]) => path)));
});

test('the help of the demo shows its own defaults', async () => {
  const { commands } = await open(true);
  const shown = (name: string): string => {
    const command = commands.find((each) => each.name() === name);
    if (command === undefined) throw new Error(`there is no command ${name}`);
    return helpOf(command).replaceAll(/\s+/g, ' ');
  };
  expect(shown('crawl')).toContain('60/min, 100/h, none. [60/min]');
  expect(shown('demo')).toContain('60/min, 100/h, none. [1200/min]');
});

test('commands that take no run say that they work on the fleet unless --local is given', async () => {
  const local = allOf(await open())
    .map(([path, command]) => [path, helpOf(command).replaceAll(/\s+/g, ' ')] as const)
    .filter(([, help]) => help.includes('--no-local'));
  const [ofFleet, ofRuns] = ['--no-local the fleet (the default)', '(default if the run is one of them)'];
  expect(local.filter(([, help]) => help.includes(ofFleet)).map(([path]) => path)).toEqual([
    'limit',
    'forget',
    'workers',
  ]);
  for (const [path, help] of local) expect(help.includes(ofRuns), path).toBe(!help.includes(ofFleet));
});

test('no flag takes more than one value, so arguments can follow it', async () => {
  const greedy = allOf(await open()).flatMap(([path, { options }]) =>
    options.filter(({ variadic }) => variadic).map(({ flags }) => `${path} ${flags}`),
  );
  expect(greedy).toEqual([]);
});

test('the help of crawl shows its groups in order, and rarely used flags only with --all', async () => {
  const ofCrawl = (program: Command): string =>
    helpOf(program.commands.find((each) => each.name() === 'crawl') as Command);
  const short = ofCrawl(await open());
  expect(short.match(/^[A-Z].*:$/gm)).toEqual([
    'Arguments:',
    'Options:',
    'What is crawled:',
    'Records:',
    'Output and log:',
    'Examples:',
  ]);
  expect(short).toContain('More flags: trawl crawl --help --all');
  expect(short).not.toContain('--dns-servers');
  const all = ofCrawl(await open(true));
  expect(all).toContain('--dns-servers');
  expect(all).not.toContain('More flags');
});

test('the groups in the help of every command and subcommand come in one order', async () => {
  const order = Object.values(HEADINGS);
  for (const [path, command] of allOf(await open(true))) {
    const places = (helpOf(command).match(/^[A-Z].*:$/gm) ?? []).map((heading) => order.indexOf(heading));
    const groups = places.filter((place) => place >= 0);
    expect(groups, path).toEqual(groups.toSorted((a, b) => a - b));
  }
});

test('the flags in examples exist', async () => {
  const commands = new Map(allOf(await open()));
  for (const [path, lines] of Object.entries(EXAMPLES)) {
    for (const line of lines) {
      const [, first = ''] = line.split(' ');
      const command = commands.get(path === 'trawl' ? first : path);
      const flags = line.match(/--[a-z-]+/g) ?? [];
      expect(flagsOf(command), line).toEqual(expect.arrayContaining(flags));
    }
  }
});

// biome-ignore format: a table
test.each([
  ['--depth',       ['--max-depth', '--rate'],     '--max-depth'],
  ['--port',        ['--api-host', '--api-port'],  '--api-port'],
  ['--verbose',     ['--json', '--log-level'],     '--log-level'],
  ['--delay',       ['--rate'],                    '--rate'],
  ['--remove-params', ['--url-key'],               '--url-key'],
  ['--dedupe',      ['--dedup', '--resume'],       '--dedup'],
  ['--concurrency', ['--worker-concurrency'],      '--worker-concurrency'],
  ['-H',            ['--json', '--host-headers'],  '--host-headers'],
  ['-r',            ['--json', '--follow'],        '--follow'],
  ['-A',            ['--follow', '--user-agent'],  '--user-agent'],
  ['-a',            ['--arg', '--all'],            '--arg'],
  ['-d',            ['--max-depth'],               '--max-depth'],
  ['--limit-rate',  ['--limit', '--rate'],         '--rate'],
  ['--output-format', ['--output', '--format'],    '--format'],
  ['--maxRequestsPerCrawl', ['--max-pages'],       '--max-pages'],
  ['--ignore-robots', ['--robots'],                '--robots ignore'],
  ['--only-main-content', ['--content'],           '--content article'],
  ['--no-parent',   ['--scope', '--step'],         '--scope path'],
  ['--dept',        ['--max-depth', '--rate'],     '--max-depth'],
  ['--concurency',  ['--worker-concurrency'],      '--worker-concurrency'],
  ['--rat',         ['--rate', '--max-depth'],     '--rate'],
  ['--level',       ['--log-level', '--max-depth'], '--max-depth'],
  ['--referer',     ['--host-headers'],            '--host-headers'],
  ['-k',            ['--insecure'],                '--insecure HOST'],
  ['-L',            ['--json', '--log-level'],     '--log-level'],
  ['--concurrent-requests', ['--worker-concurrency', '--host-concurrency'], '--worker-concurrency'],
  ['--concurrent-requests-per-domain', ['--worker-concurrency', '--host-concurrency'], '--host-concurrency'],
  ['--closespider-pagecount', ['--limit', '--max-pages'], '--max-pages'],
  ['--download-timeout', ['--fetch-timeout'],      '--fetch-timeout'],
  ['--redirect-max-times', ['--max-redirects'],    '--max-redirects'],
  ['--max-discovery-depth', ['--max-depth'],       '--max-depth'],
  ['--skip',        ['--skipped', '--offset'],     '--offset'],
  ['--head',        ['--limit', '--offset'],       '--limit'],
])('the unknown flag %s, among %s, suggests %s', (unknown, known, meant) => {
  expect(improved(`error: unknown option '${unknown}'\n(Did you mean --other?)\n`, known)).toBe(
    `error: unknown option '${unknown}'\n(Did you mean ${meant}?)\n`,
  );
});

// biome-ignore format: a table
test.each([
  ['https://www.example.com/', 'crawl https://www.example.com/'],
  ['example.com',              'crawl example.com'],
  ['urls.txt',                 'crawl urls.txt'],
  ['scrape',                   'crawl'],
  ['fetch',                    'try'],
  ['list',                     'status'],
  ['retry',                    'dlq replay'],
  ['version',                  '--version'],
])('the unknown command %s suggests %s', (unknown, meant) => {
  const told = `error: unknown command '${unknown}'\n(Did you mean ${meant}?)\n`;
  expect(improved(`error: unknown command '${unknown}'\n(Did you mean limit?)\n`, [])).toBe(told);
});

// biome-ignore format: a table
test.each([
  ['status',  '--run',     'status RUN'],
  ['records', '--run',     'records RUN'],
  ['try',     '--url',     'try URL'],
  ['limit',   '--host',    'limit HOST'],
  ['crawl',   '--sitemap', 'crawl SEED'],
])('the command %s with the unknown flag %s suggests the argument in %s', async (name, unknown, meant) => {
  const command = (await open()).commands.find((each) => each.name() === name);
  const error = `error: unknown option '${unknown}'\n(Did you mean --run-retention?)\n`;
  expect(improved(error, flagsOf(command), command)).toContain(`(Did you mean ${meant}, without a flag?)`);
});

// biome-ignore format: a table
test.each([
  ['dlq list --dept 2',     "unknown option '--dept'",       '(trawl dlq list --help'],
  ['dlq show --id a',       "unknown option '--id'",         '(Did you mean dlq show LETTER, without a flag?)'],
  ['dlq list shop',         "too many arguments for 'list'", '(Did you mean --run shop?)'],
  ['dlq purge a.test',      "too many arguments for 'purge'", '(Did you mean --host a.test?)'],
  ['crawl --dept 2 a.test', "unknown option '--dept'",       '(Did you mean --max-depth?)'],
])('the error of `trawl %s` (%s) suggests %s', async (line, error, meant) => {
  const said: string[] = [];
  const program = await open();
  for (const [, command] of allOf(program)) command.configureOutput({ writeErr: (text) => said.push(text) });
  await expect(program.parseAsync(['node', 'trawl', ...line.split(' ')])).rejects.toThrow();
  const [first, second] = said.join('').split('\n');
  expect(first).toContain(error);
  expect(second).toContain(meant);
});

// biome-ignore format: a table
test.each([
  ['crawl', '--fresh',    'A crawl fetches its pages again without a flag, unless --dedup ever is given.'],
  ['try',   '--headless', 'Trawl runs no JavaScript: look for the JSON that the page loads.'],
  ['crawl', '--images',   'A crawler stores files, by download(links) in a step or by a pattern of its step download.'],
  ['crawl', '--location', 'Redirects are followed without a flag.'],
  ['crawl', '--autothrottle-enabled', 'A host that slows down is asked more slowly, without a flag. --rate is the fastest pace.'],
  ['crawl', '--closespider-timeout', `timeout -s INT 1h ${TRAWL} crawl … stops it in time, and --resume continues it.`],
  ['crawl', '--logfile',  'The log is what a command writes to standard error: 2> FILE keeps it.'],
  ['crawl', '--set',      'Each setting is a flag of its own: --help --all lists them.'],
  ['crawl', '-s',         'Each setting is a flag of its own: --help --all lists them. --quiet hides the progress.'],
  ['try',   '--config',   'Each setting is a flag of its own: --help --all lists them.'],
])('the command %s with the unknown flag %s explains why it needs none', async (name, unknown, answer) => {
  const command = (await open()).commands.find((each) => each.name() === name);
  const error = `error: unknown option '${unknown}'\n(Did you mean --json?)\n`;
  expect(improved(error, flagsOf(command), command)).toBe(`error: unknown option '${unknown}'\n(${answer})\n`);
});

// biome-ignore format: a table
test.each([
  ['--folow',  ['--color', '--json', '--limit']],
  ['--raeson', ['--json', '--host', '--all']],
])('the unknown flag %s, which resembles none of %s, suggests none, whatever commander found', (unknown, known) => {
  const error = `error: unknown option '${unknown}'\n`;
  expect(improved(`${error}(Did you mean ${known[0]}?)\n`, known)).toBe(error);
});

test('suggestions name only flags of the command, hidden ones too, and keep those of commander that are right', () => {
  const error = "error: unknown option '--depth'\n";
  const hidden = "error: unknown option '--host-concurency'\n";
  expect(improved(hidden, ['--json', '--host-concurrency'])).toContain('(Did you mean --host-concurrency?)');
  expect(improved(error, ['--json'])).toBe(error);
  const letter = "error: unknown option '-r'\n";
  expect(improved(letter, ['--json'])).toBe(letter);
  const nonsense = "error: unknown command 'nonsense'\n";
  expect(improved(nonsense, [])).toBe(nonsense);
  const ofDlq = "error: unknown command 'ls'\n(Did you mean list?)\n";
  expect(improved(ofDlq, ['--json'])).toBe(ofDlq);
  const ofAnother = "error: unknown option '--all'\n";
  expect(improved(ofAnother, ['--all', '--json'])).toBe(ofAnother);
  const shown = "error: unknown option '--joyn'\n(Did you mean --json?)\n";
  expect(improved(shown, ['--json', '--join'])).toContain('(Did you mean --join?)');
  const several = "error: unknown option '--jon'\n(Did you mean one of --join, --json?)\n";
  expect(improved(several, ['--json', '--join'])).toBe(several);
  const near = "error: unknown option '--jsno'\n(Did you mean --json?)\n";
  expect(improved(near, ['--json'])).toBe(near);
});

// biome-ignore format: a table
test.each([
  ['nosuch --help',       'nosuch'],
  ['dlq nosuch --help',   'dlq nosuch'],
  ['crawl nosuch --help', 'crawl nosuch --help'],
  ['help nosuch',         'nosuch'],
  ['help dlq nosuch',     'dlq nosuch'],
  ['help dlq list',       'dlq list --help'],
  ['help',                'help'],
  ['help --all',          'help --all'],
  ['--help',              '--help'],
])('trawl %s is parsed as %s', async (line, parsed) => {
  const argv = asHelpFlag(['node', 'trawl', ...line.split(' ')]);
  expect(upToUnknown(argv, await open()).slice(2).join(' ')).toBe(parsed);
});

test.each([
  [['crawl', 'https://a.test/', '--run', '--rate', '2/s'], "'--run <id>' argument missing: --rate"],
  [['crawl', 'https://a.test/', '-o', '--rate', '2/s'], 'argument missing: --rate'],
  [['dlq', 'list', '--run', '--limit', '5'], 'argument missing: --limit'],
])('a flag is not accepted as the value of the flag before it: %j', async (words, says) => {
  const program = await open();
  expect(() => refuseFlagsAsValues(['node', 'trawl.ts', ...words], program)).toThrow(says);
});

test.each([
  [['crawl', 'https://a.test/', '--run=--rate', '--quiet']],
  [['try', 'https://a.test/', '--select', '-h1']],
  [['crawl', '--resume', '--quiet']],
  [['crawl', '--quiet', '--', '--run', '--rate']],
  [['crawl', 'https://a.test/', '--run']],
])('other words are accepted as values: %j', async (words) => {
  refuseFlagsAsValues(['node', 'trawl.ts', ...words], await open());
});
