import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { nearestOf } from '../../../shared/settings/nearest-name.ts';
import type { SettingGroup } from '../../../shared/settings/setting.ts';
import type { SettingKey } from '../../../shared/settings/table.ts';

/** The headings of `--help`, in order. A command's own flags come first. */
export const HEADINGS: Readonly<Record<'own' | SettingGroup, string>> = {
  own: 'Options:',
  run: 'What is crawled:',
  fetch: 'How hosts are asked:',
  worker: 'This process:',
  fleet: 'Services:',
  metrics: 'Metrics:',
  output: 'Records:',
  api: 'The API:',
  log: 'Output and log:',
};

/** The settings shown by `--help`. `--help --all` shows the others too. */
export const SHOWN: ReadonlySet<SettingKey> = new Set([
  'rate',
  'follow',
  'maxDepth',
  'scope',
  'include',
  'exclude',
  'maxPages',
  'crawler',
  'rabbitmqUrl',
  'redisUrl',
  'outputDir',
  'apiHost',
  'apiPort',
  'logLevel',
]);

/** Other tools' words for a flag, or for a flag with a value. Words that resemble the flag are left out: they are found anyway. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  '--api-host': ['host', 'bind', 'address', 'listen', 'ip'],
  '--api-port': ['port', 'http-port'],
  '--arg': ['args', 'argument', 'param', 'spider-arg'],
  '--ca-file': ['ca', 'cacert', 'ca-cert', 'ca-certificate', 'ca-bundle', 'cert'],
  '--color': ['colour', 'colors', 'colours', 'ansi', 'no-color', 'no-colour'],
  '--content article': [
    ...['article', 'main-content', 'only-main-content', 'main', 'reader', 'readability', 'fit-markdown', 'extract'],
  ],
  '--content': ['body', 'html', 'text', 'markdown', 'save-html', 'save', 'formats'],
  '--data': ['body', 'data-raw', 'data-binary', 'data-urlencode', 'post-data', 'form', 'post'],
  '--dedup': ['dedupe', 'deduplicate', 'unique'],
  '--exclude': ['ignore', 'reject', 'skip', 'deny', 'disallow'],
  '--fetch-timeout': ['timeout', 'max-time', 'request-timeout', 'download-timeout'],
  '--follow': ['recursive', 'recurse', 'spider', 'links', 'follow-links', 'deep', 'mirror'],
  '--format': ['type', 'csv', 'jsonl', 'output-format', 'output-type', 'out-format', 'export-format'],
  '--fresh': ['force', 'again', 'refetch', 'no-dedup'],
  '--header': ['headers', 'request-header', 'referer', 'referrer'],
  '--host-headers': [
    ...['header', 'headers', 'cookie', 'cookies', 'load-cookies', 'referer', 'referrer'],
    ...['auth', 'bearer', 'login', 'user', 'token'],
  ],
  '--host-concurrency': ['concurrent-requests-per-domain', 'concurrent-requests-per-ip'],
  '--include': ['accept', 'allow', 'filter', 'match', 'pattern', 'only', 'search', 'grep'],
  '--incremental': ['timestamping', 'changed', 'only-changed', 'if-modified-since'],
  '--insecure HOST': [
    ...['no-check-certificate', 'no-verify', 'self-signed'],
    ...['ignore-certificate-errors', 'ignore-certificate'],
  ],
  '--lastmod-since': ['since', 'newer', 'after', 'changed-since'],
  '--limit': ['head', 'first', 'top', 'take', 'rows'],
  '--log-level': ['verbose', 'debug', 'trace', 'loglevel', 'log'],
  '--max-attempts': ['retries', 'retry', 'tries', 'max-retries', 'attempts', 'retry-times'],
  '--max-body': ['max-size', 'size-limit', 'max-filesize', 'body-size', 'download-maxsize'],
  '--max-depth': ['depth', 'level', 'levels', 'depth-limit', 'max-level', 'max-discovery-depth', 'max-crawl-depth'],
  '--max-pages': [
    ...['limit', 'max', 'pages', 'max-requests', 'max-requests-per-crawl', 'max-urls', 'count', 'pagecount'],
    'closespider-pagecount',
  ],
  '--max-redirects': ['redirect-max-times'],
  '--method': ['request', 'verb', 'http-method'],
  '--offset': ['skip', 'start', 'from'],
  '--output': ['feed-uri', 'feed'],
  '--output-dir': ['out', 'out-dir', 'output', 'dir', 'directory', 'folder', 'dest'],
  '--private-hosts': ['private', 'allow-private', 'localhost', 'local', 'allow-local', 'internal'],
  '--processes': ['workers', 'scale', 'instances', 'replicas', 'cores'],
  '--proxy-url': ['proxy', 'proxies', 'socks', 'socks5'],
  '--quiet': ['silent', 'no-progress', 'noprogress', 'nolog', 'no-log'],
  '--rate': [
    ...['delay', 'wait', 'speed', 'throttle', 'rps', 'download-delay', 'interval', 'pause', 'sleep'],
    ...['limit-rate', 'max-requests-per-minute'],
  ],
  '--resume': ['continue', 'restart', 'jobdir', 'checkpoint'],
  '--robots': ['robotstxt', 'obey-robots', 'robots-txt'],
  '--robots ignore': ['no-robots', 'ignore-robots', 'ignore-robots-txt', 'no-robots-txt', 'disobey-robots'],
  '--run': ['name', 'id', 'job', 'run-id', 'label'],
  '--scope': ['domains', 'allowed-domains', 'span-hosts'],
  '--scope domain': ['domain', 'same-domain', 'subdomains', 'include-subdomains', 'allow-subdomains'],
  '--scope path': ['no-parent', 'np'],
  '--select': ['css', 'selector', 'query'],
  '--url-key': [
    ...['ignore-params', 'ignore-parameters', 'remove-params', 'remove-parameters', 'strip-params', 'drop-params'],
    ...['ignore-query', 'strip-query', 'remove-query', 'session', 'session-ids', 'canonicalize', 'normalize'],
  ],
  '--urls-file': ['file', 'input', 'input-file', 'list', 'urls', 'url-list', 'seeds'],
  '--user-agent': ['agent', 'ua', 'useragent'],
  '--watch': ['follow', 'tail', 'live'],
  '--worker-concurrency': [
    ...['concurrency', 'threads', 'parallel', 'jobs', 'workers', 'max-concurrency', 'connections'],
    'concurrent-requests',
  ],
};

/** Short flags of other tools, and the flags they correspond to. The first one that the command has is suggested. */
const LETTERS: Readonly<Record<string, readonly string[]>> = {
  '-A': ['--user-agent'],
  '-H': ['--header', '--host-headers'],
  '-I': ['--include'],
  '-L': ['--log-level'],
  '-O': ['--output'],
  '-P': ['--output-dir'],
  '-T': ['--fetch-timeout'],
  '-U': ['--user-agent'],
  '-X': ['--method', '--exclude'],
  '-a': ['--arg'],
  '-b': ['--host-headers'],
  '-c': ['--resume'],
  '-d': ['--data', '--max-depth'],
  '-f': ['--format'],
  '-i': ['--urls-file'],
  '-j': ['--worker-concurrency'],
  '-k': ['--insecure HOST'],
  '-l': ['--max-depth'],
  '-m': ['--follow'],
  '-n': ['--limit'],
  '-p': ['--api-port'],
  '-q': ['--quiet'],
  '-r': ['--follow'],
  '-s': ['--quiet'],
  '-t': ['--max-attempts'],
  '-u': ['--host-headers'],
  '-v': ['--log-level'],
  '-w': ['--rate'],
  '-x': ['--proxy-url'],
};

/** Returns the flag that means the same as an unknown one, if the command has such a flag. */
export function meantBy(unknown: string, known: readonly string[]): string | undefined {
  const isKnown = (flag: string): boolean => known.includes(flag.split(' ', 1)[0] ?? '');
  const byLetter = LETTERS[unknown]?.find(isKnown);
  if (byLetter !== undefined) return byLetter;
  const word = wordOf(unknown);
  return Object.keys(WORDS).find((flag) => isKnown(flag) && WORDS[flag]?.includes(word));
}

/** Minimum length of a word that typos are compared with: shorter ones resemble too many others. */
const SHORTEST_WORD = 5;

/** Two flags that differ in more than this share of their letters don't resemble each other: `--folow` isn't `--color`. */
const MOST_SHARE = 0.35;

/**
 * Returns the flag that an unknown one resembles most, directly or through another word for it: `--dept` → `--depth` → `--max-depth`.
 * Flags are compared without their dashes, which all have in common.
 */
export function nearestFlag(unknown: string, known: readonly string[]): string | undefined {
  const names = known.map(wordOf);
  const words = Object.entries(WORDS).flatMap(([flag, meaning]) =>
    known.includes(flag.split(' ', 1)[0] ?? '') ? meaning.filter((word) => word.length >= SHORTEST_WORD) : [],
  );
  const nearest = nearestOf(wordOf(unknown), [...names, ...words], MOST_SHARE);
  if (nearest === undefined) return undefined;
  return known[names.indexOf(nearest)] ?? meantBy(nearest, known);
}

/** The words of a flag, without dashes in front. The camel case of JavaScript programs is accepted: `--maxRequests` is `max-requests`. */
function wordOf(flag: string): string {
  return flag
    .replace(/^-+/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase();
}

/** Flags that people try for something the command takes as an argument, by the argument's name. */
const ARGUMENT_WORDS: Readonly<Record<string, readonly string[]>> = {
  host: ['host', 'domain'],
  letter: ['letter', 'id'],
  name: ['name'],
  rate: ['rate'],
  run: ['run', 'run-id', 'id'],
  seeds: ['seed', 'url', 'site', 'sitemap', 'start-url', 'start-urls', 'sitemap-url'],
  url: ['url', 'page'],
};

/** Returns the argument that an unknown flag stands for, if the command takes it. */
export function argumentMeantBy(unknown: string, taken: readonly string[]): string | undefined {
  return taken.find((name) => ARGUMENT_WORDS[name]?.includes(wordOf(unknown)));
}

/** Hints for flags that Trawl doesn't need, and the commands they are given for. */
const ANSWERS: readonly {
  readonly said: string;
  readonly commands: readonly string[];
  readonly words: readonly string[];
}[] = [
  {
    said: 'Trawl runs no JavaScript: look for the JSON that the page loads.',
    commands: ['crawl', 'produce', 'try'],
    words: ['js', 'javascript', 'headless', 'browser', 'render', 'render-js', 'wait-for', 'screenshot'],
  },
  {
    said: 'A crawler stores files, by download(links) in a step or by a pattern of its step download.',
    commands: ['crawl', 'produce'],
    words: ['download', 'downloads', 'files', 'images', 'media', 'pdf', 'pdfs', 'page-requisites', 'assets'],
  },
  {
    said: 'Redirects are followed without a flag.',
    commands: ['crawl', 'produce', 'try'],
    words: ['location', 'follow-redirects'],
  },
  {
    said: 'A host that slows down is asked more slowly, without a flag. --rate is the fastest pace.',
    commands: ['crawl', 'produce', 'work'],
    words: ['autothrottle', 'autothrottle-enabled', 'auto-throttle'],
  },
  {
    said: `timeout -s INT 1h ${TRAWL} crawl … stops it in time, and --resume continues it.`,
    commands: ['crawl'],
    words: ['closespider-timeout', 'max-duration', 'max-runtime', 'time-limit', 'duration'],
  },
  {
    said: 'The log is what a command writes to standard error: 2> FILE keeps it.',
    commands: ['crawl', 'produce', 'work', 'api'],
    words: ['log-file', 'logfile'],
  },
  {
    said: 'A map lists what sitemaps and the given page name, and fetches no other page: crawl follows links.',
    commands: ['map'],
    words: [
      'follow',
      'recursive',
      'recurse',
      'max-depth',
      'depth',
      'level',
      'max-pages',
      'max-discovery-depth',
      'crawler',
    ],
  },
  {
    said: 'A crawl fetches its pages again without a flag, unless --dedup ever is given.',
    commands: ['crawl'],
    words: ['fresh', 'force', 'again', 'refetch', 'no-dedup'],
  },
  {
    said: 'Each setting is a flag of its own: --help --all lists them. --quiet hides the progress.',
    commands: ['crawl', 'produce'],
    words: ['s'],
  },
  {
    said: 'Each setting is a flag of its own: --help --all lists them.',
    commands: ['crawl', 'produce', 'try', 'work'],
    words: ['set', 'setting', 'settings', 'config', 'conf', 'config-file', 'options'],
  },
];

/** Returns the hint for an unknown flag that Trawl doesn't need. */
export function answerTo(unknown: string, command: string): string | undefined {
  return ANSWERS.find(({ commands, words }) => commands.includes(command) && words.includes(wordOf(unknown)))?.said;
}

/** Other tools' words for a command. */
const COMMAND_WORDS: Readonly<Record<string, readonly string[]>> = {
  api: ['serve', 'server', 'dashboard', 'ui', 'web', 'http'],
  cancel: ['stop', 'abort', 'kill', 'end'],
  crawl: ['scrape', 'get', 'start', 'run', 'download', 'mirror', 'spider', 'map', 'wget', 'curl', 'runspider'],
  crawlers: ['spiders', 'check'],
  '--version': ['version'],
  'dlq list': ['errors', 'failed', 'failures', 'letters', 'dead-letters'],
  'dlq replay': ['replay', 'retry', 'requeue'],
  init: ['new', 'create', 'startproject', 'genspider', 'scaffold'],
  produce: ['enqueue', 'submit', 'add', 'push', 'seed', 'offer'],
  records: ['export', 'results', 'output', 'items', 'pages', 'show', 'dump', 'data'],
  status: ['list', 'ls', 'ps', 'runs', 'stats', 'progress', 'jobs', 'info', 'top'],
  try: ['shell', 'fetch', 'parse', 'test', 'view', 'debug'],
  url: ['why', 'explain', 'lookup', 'find'],
  work: ['worker', 'consume', 'join'],
};

/** Returns the command that means the same as an unknown one. A host or a file is taken for a seed of `crawl`. */
export function commandMeantBy(unknown: string): string | undefined {
  if (/[./]/.test(unknown)) return `crawl ${unknown}`;
  return Object.keys(COMMAND_WORDS).find((command) => COMMAND_WORDS[command]?.includes(unknown.toLowerCase()));
}
