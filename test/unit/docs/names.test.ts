import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../../shared/settings/table.ts';
import { FAILED_REASONS, SKIPPED_REASONS } from '../../../shared/task/task/outcome.ts';
import { CHECKOUT, PAGES, proseOf, spansOf, textOf } from '../../support/docs/pages.ts';

const ROOTS = ['services', 'shared', 'crawlers', 'examples', 'bench', 'scripts', 'monitoring', 'bin', 'docs', 'test'];
const FILES = [...ROOTS.map((root) => `${root}/**/*.*`), '*.*', '.*.mjs'].flatMap((files) =>
  globSync(files, { cwd: CHECKOUT }),
);
/** But for these tests, which name what isn't there. */
const SOURCES = FILES.filter((file) => /\.(?:tsx?|cjs|mjs|lua|sql)$/.test(file) && !file.startsWith('test/unit/docs/'));
const sources = SOURCES.map((file) => readFileSync(join(CHECKOUT, file), 'utf8'));

/** What a user has, not the checkout. */
const OF_USERS = /^(?:crawlers\/)?(?:shop|headlines|middleware)(?:\.test)?\.ts$|^output\/$/;

/** Whether files are there whose path ends with these parts, or, of a folder, has them. */
function isThere(path: string): boolean {
  const isFolder = path.endsWith('/');
  return FILES.some((file) => (isFolder ? `/${file}`.includes(`/${path}`) : `/${file}`.endsWith(`/${path}`)));
}

test.each(PAGES)('%s: each source file and folder that it names is there', (page) => {
  const named = spansOf(page).flatMap((span) => span.match(/^[\w./-]+(?:\.(?:ts|tsx|lua|sql|mjs|cjs)|\/)$/) ?? []);
  const ours = named.filter((file) => !OF_USERS.test(file) && !/^(?:\/|\.\.?\/)/.test(file));
  expect(ours.filter((file) => !isThere(file))).toEqual([]);
});

test.each(['docs/extending.md', 'docs/architecture.md', 'docs/guarantees.md'])(
  '%s: each name of the source that it uses is there',
  (page) => {
    const names = spansOf(page).filter((span) => /^(?:[A-Z][a-z]+[A-Z]\w*|[a-z]+[A-Z]\w*|[A-Z]+_[A-Z_]+)$/.test(span));
    expect(names.filter((name) => !sources.some((source) => source.includes(name)))).toEqual([]);
  },
);

test.each(['docs/extending.md', 'docs/architecture.md'])('%s: what it says is of a file is defined there', (page) => {
  const named = [...proseOf(page).matchAll(/`(\w+)` (?:of|in) `([\w./-]+\.ts)`/g)];
  expect(named.length).toBeGreaterThan(0);
  const isDefined = ([, name = '', file = '']: readonly string[]) =>
    SOURCES.some((each, at) => `/${each}`.endsWith(`/${file}`) && hasDefinition(sources[at] ?? '', name));
  expect(named.filter((each) => !isDefined(each)).map(([span]) => span)).toEqual([]);
});

test('docs/architecture.md says where each port is implemented', () => {
  const [, rows = ''] = /^\| port \|.*\n\|.*\n((?:\|.*\n)+)/m.exec(proseOf('docs/architecture.md')) ?? [];
  const ports = FILES.filter((file) => file.startsWith('shared/ports/')).map((file) => file.split('/').at(-1));
  const named = [...rows.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => cell.match(/[\w-]+\.ts/g) ?? []);
  // What passes through the ports.
  expect([...named, 'dead-letter.ts', 'record.ts'].toSorted()).toEqual(ports.toSorted());
});

test('docs/architecture.md shows each folder of the source tree', () => {
  const [, tree = ''] = /^## Source tree$(.*?)^Arrows/ms.exec(textOf('docs/architecture.md')) ?? [];
  const folders = ['services/*/', 'services/*/*/', 'shared/*/', 'shared/crawler/*/', 'shared/task/*/'].flatMap((at) =>
    globSync(at, { cwd: CHECKOUT }).map((folder) => folder.replace(/\/$/, '').split('/').at(-1)),
  );
  expect(folders.length).toBeGreaterThan(40);
  expect(folders.filter((folder) => !tree.includes(`${folder}/`))).toEqual([]);
});

/** Of programs that ours is compared with. */
const OF_OTHERS = [
  'AUTOTHROTTLE_ENABLED',
  'CLOSESPIDER_ERRORCOUNT',
  'CLOSESPIDER_ITEMCOUNT',
  'CLOSESPIDER_PAGECOUNT',
  'CLOSESPIDER_TIMEOUT',
  'COMPOSE_FILE',
  'DEFAULT_REQUEST_HEADERS',
  'DEPTH_LIMIT',
  'DOWNLOAD_MAXSIZE',
  'DOWNLOAD_SLOTS',
  'DOWNLOAD_TIMEOUT',
  'DUPEFILTER_CLASS',
  'FEED_EXPORT_FIELDS',
  'HTTPCACHE_ENABLED',
  'HTTPERROR_ALLOWED_CODES',
  'HTTPERROR_ALLOW_ALL',
  'LOG_FILE',
  'REDIRECT_MAX_TIMES',
  'REQUEST_FINGERPRINTER_CLASS',
  'RETRY_HTTP_CODES',
  'RETRY_TIMES',
];

test('each variable that the docs name is a setting, one of Compose, or is read by somebody', () => {
  const settings = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
  const compose = ['docker-compose.yml', 'docker-compose.monitoring.yml'].map(textOf).join();
  const programs = sources.join();
  const named = PAGES.flatMap((page) =>
    spansOf(page).flatMap((span) => span.match(/^[A-Z]+(?:_[A-Z]+)+(?==|$)/) ?? []),
  );
  expect(named.length).toBeGreaterThan(100);
  const unknown = named.filter(
    (name) => !settings.has(name) && !compose.includes(`\${${name}`) && !programs.includes(name),
  );
  expect([...new Set(unknown)].toSorted()).toEqual(OF_OTHERS);
});

test('docs/commands.md explains each reason to fail and to skip, and no other', () => {
  for (const [head, reasons] of [
    ['reason of a failure', FAILED_REASONS],
    ['reason to skip', SKIPPED_REASONS],
  ] as const) {
    const [, rows = ''] =
      new RegExp(`^\\| ${head} \\|.*\\n\\|.*\\n((?:\\|.*\\n)+)`, 'm').exec(proseOf('docs/commands.md')) ?? [];
    const explained = [...rows.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []);
    expect(explained.toSorted()).toEqual([...reasons].toSorted());
  }
});

/** The sources that define a name. */
const DEFINING = new Map<string, string[]>();
for (const source of sources) {
  for (const [, name = ''] of source.matchAll(/\b(?:const|function|class|interface|type) (\w+)/g)) {
    const others = DEFINING.get(name) ?? [];
    DEFINING.set(name, [...others, source]);
  }
}

function hasDefinition(source: string, name: string): boolean {
  return new RegExp(`\\b(?:const|function|class|interface|type) ${name}\\b`).test(source);
}

/** Whether there is such a member: of a class or an interface. */
function hasMember(source: string, name: string): boolean {
  return new RegExp(`^ +(?:(?:readonly|static|async|get) )*${name}\\b\\??[ (:<=]`, 'm').test(source);
}

test('each name that a comment in the source links to is there', () => {
  const wrong = SOURCES.flatMap((file, at) => {
    const own = sources[at] ?? '';
    return [...own.matchAll(/\{@link (\w+)(?:\.(\w+))?\}/g)].flatMap(([link, name = '', member]) => {
      const defining = DEFINING.get(name);
      const isThere =
        member === undefined
          ? defining !== undefined || hasMember(own, name)
          : defining?.some((source) => hasMember(source, member));
      return isThere === true ? [] : [`${file}: ${link}`];
    });
  });
  expect(wrong).toEqual([]);
});

test('each file that a comment in the source names is there', () => {
  const wrong = SOURCES.flatMap((file, at) => {
    const comments = (sources[at] ?? '').match(/^\s*(?:\*|\/\/|--|\/\*\*).*$/gm) ?? [];
    const named = comments.flatMap((comment) => comment.match(/`[\w./-]+\.(?:ts|tsx|lua|sql|md|mjs)`/g) ?? []);
    return named
      .map((name) => name.slice(1, -1))
      .filter((name) => !isThere(name.replace(/^(?:\.\.?\/)+/, '')))
      .map((name) => `${file}: ${name}`);
  });
  expect(wrong).toEqual([]);
});
