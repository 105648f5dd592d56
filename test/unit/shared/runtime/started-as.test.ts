import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiUrlOf, quoted, startedAs } from '../../../../shared/runtime/started-as.ts';

const BY_SCRIPT = { npm_lifecycle_event: 'trawl', npm_package_name: 'trawl', npm_command: 'run' };
const OTHER_SCRIPT = {
  npm_lifecycle_event: 'crawl',
  npm_package_name: 'mine',
  npm_command: 'run',
  PATH: '/w/node_modules/.bin:/bin',
};

// biome-ignore format: a table
test.each<[string, string, Record<string, string>, string]>([
  ['its name on the PATH',           '/usr/local/bin/trawl',          { PATH: '/bin:/usr/local/bin' },                     'trawl'],
  ['npm run in a checkout',          '/w/services/cli/trawl.ts',      BY_SCRIPT,                                           'npm run -s trawl --'],
  ['npm run in a checkout, by bin',  '/w/bin/trawl.cjs',              BY_SCRIPT,                                           'npm run -s trawl --'],
  ['npm run on Windows',             'C:\\w\\bin\\trawl.cjs',         BY_SCRIPT,                                           'npm run -s trawl --'],
  ['npx',                            '/w/node_modules/.bin/trawl',    { npm_command: 'exec', PATH: '/w/node_modules/.bin' }, 'npx trawl'],
  ['npx, which found a global one',  '/usr/local/bin/trawl',          { npm_command: 'exec', PATH: '/usr/local/bin' },      'npx trawl'],
  ['a script of another package',    '/w/node_modules/.bin/trawl',    OTHER_SCRIPT,                                        'npx trawl'],
  ["Yarn's Plug'n'Play",             '/c/trawl-1-2.zip/node_modules/trawl/bin/trawl.cjs', { PATH: '/bin' },                'yarn trawl'],
  ['Compose',                        '/usr/local/bin/trawl',          { TRAWL_COMMAND: 'docker compose exec scraper trawl' }, 'docker compose exec scraper trawl'],
  ['its file in a checkout',         '/w/services/cli/trawl.ts',      {},                                                  'node services/cli/trawl.ts'],
  ['a checkout elsewhere',           '/my x/services/cli/trawl.ts',   {},                                                  "node '/my x/services/cli/trawl.ts'"],
  ['a folder that is not on PATH',   '/opt/t/bin/trawl',              { PATH: '/bin' },                                    '/opt/t/bin/trawl'],
  ['a file of this folder',          '/w/trawl',                      { PATH: '/bin' },                                    './trawl'],
  ['the package by its file',        '/w/p/bin/trawl.cjs',            { PATH: '/bin' },                                    'p/bin/trawl.cjs'],
  ['a script named as ours elsewhere', '/w/node_modules/.bin/trawl',  { npm_lifecycle_event: 'trawl', npm_package_name: 'mine' }, 'npx trawl'],
  ['a part of another program',      '/w/node_modules/vitest/run.js', {},                                                  'trawl'],
  ['an empty file name',             '',                              {},                                                  'trawl'],
])('started by %s', (_, file, env, expected) => {
  expect(startedAs({ env, file, folder: '/w' })).toBe(expected);
});

// biome-ignore format: a table
test.each([
  ['on every address',     'http://0.0.0.0:8080/',   {},                                           'http://127.0.0.1:8080/'],
  ['on every IPv6 address', 'http://[::]:8080/',     {},                                           'http://127.0.0.1:8080/'],
  ['on any free port',     'http://127.0.0.1:40123/', {},                                          'http://127.0.0.1:40123/'],
  ['on an address',        'http://192.0.2.7:8080/', {},                                           'http://192.0.2.7:8080/'],
  ['in Compose',           'http://0.0.0.0:8080/',   { TRAWL_API_URL: 'http://127.0.0.1:8081/' },  'http://127.0.0.1:8081/'],
])('a browser finds an API that listens %s', (_, listensOn, env, expected) => {
  expect(apiUrlOf(listensOn, env)).toBe(expected);
});

test("a shell takes a quoted word as it is, a host's name among them", () => {
  const hosts = [
    '$(id).a.test',
    '`id`.a.test',
    'x;id&.a.test',
    "it's.a.test",
    'a"b.a.test',
    '*.a.test',
    '!x.a.test',
    '~root',
  ];
  for (const host of hosts) expect(URL.parse(`http://${host}/`)?.host).toBe(host);
  const words = [...hosts, '[::1]:80', 'a.test:80', '-x.a.test', 'a  b', 'a\nb', '\\', ''];
  const { stdout } = spawnSync('sh', ['-c', `printf '<%s>' ${words.map(quoted).join(' ')}`], { encoding: 'utf8' });
  expect(stdout).toBe(words.map((word) => `<${word}>`).join(''));
  expect(['example.com:8080', './a/b-c.csv'].map(quoted)).toEqual(['example.com:8080', './a/b-c.csv']);
});

test('an older Node.js in a checkout is told how to get the one that comes with it', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [, file = ''] = /^node (\S+)$/.exec(scripts.trawl) ?? [];
  const old = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
  const { status, stderr } = spawnSync(process.execPath, ['-e', `${old}; require('./${file}')`], {
    env: { ...process.env, ...BY_SCRIPT },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    1,
    `trawl: expected Node.js 24 or newer, found 20.20.2 (${process.execPath}): npm ci --include=dev --ignore-scripts=false\n`,
  ]);
});

test('every command in a message begins in the way this process was started', () => {
  const root = join(import.meta.dirname, '../../../..');
  const files = ['services', 'shared'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const commands = readdirSync(join(root, 'services/cli/commands')).map((file) => file.replace('.ts', ''));
  // What follows a quote or a backtick directly is a name: of a connection, or in a comment.
  const named = new RegExp(`[^'\`]\\btrawl (${commands.join('|')})\\b`);
  const lines = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .map((line) => `${file}: ${line.trim()}`),
    )
    // A folder that `trawl init` makes has a package of its own, whatever started this process.
    .filter((line) => named.test(line) && !/: (\/?\*|\/\/)|npx trawl|\/scaffold\//.test(line));
  expect(lines).toEqual([]);
});
