import { TRAWL } from '../../../shared/runtime/started-as.ts';

/** The most common uses of each command. */
export const EXAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  trawl: ['trawl demo', 'trawl crawl https://www.example.com/ --follow'],
  crawl: ['trawl crawl https://www.example.com/ --follow --max-pages 500', 'trawl crawl urls.txt -o pages.csv'],
  produce: ['trawl produce https://www.example.com/ --wait', 'trawl produce - --run list < urls.txt'],
  work: ['trawl work', 'trawl work --processes auto --exit-when-idle'],
  status: ['trawl status', 'trawl status RUN --watch'],
  records: ['trawl records RUN', 'trawl records RUN --format csv -o pages.csv'],
  dlq: ['trawl dlq list --reason http_5xx', 'trawl dlq replay --run RUN'],
  'dlq list': ['trawl dlq list --reason http_5xx', 'trawl dlq list --run RUN --limit 1000'],
  'dlq show': ['trawl dlq show https://www.example.com/1', 'trawl dlq show RUN:8d0c… --json'],
  'dlq export': ['trawl dlq export > letters.jsonl', 'trawl dlq export --host www.example.com'],
  'dlq replay': ['trawl dlq replay --run RUN', 'trawl dlq replay --reason timeout --dry-run'],
  'dlq purge': ['trawl dlq purge --run RUN', 'trawl dlq purge --all --dry-run'],
  url: ['trawl url https://www.example.com/1', 'trawl url https://www.example.com/1 --run RUN'],
  forget: ['trawl forget https://www.example.com/1', 'trawl forget --host www.example.com --dry-run'],
  pause: ['trawl pause RUN', 'trawl pause --host www.example.com --reason "they asked"'],
  resume: ['trawl resume RUN', 'trawl resume --host www.example.com'],
  cancel: ['trawl cancel RUN', 'trawl cancel RUN --json'],
  seal: ['trawl seal RUN', 'trawl seal RUN --json'],
  crawlers: ['trawl crawlers', 'trawl crawlers graph shop'],
  'crawlers list': ['trawl crawlers', 'trawl crawlers list --json'],
  'crawlers graph': ['trawl crawlers graph shop', 'trawl crawlers graph ./shop.ts --format dot'],
  api: ['trawl api', 'trawl api --local --api-port 9000'],
  workers: ['trawl workers', 'trawl workers --json'],
  limit: ['trawl limit www.example.com 30/min', 'trawl limit www.example.com none'],
  doctor: ['trawl doctor', 'trawl doctor --json'],
  try: ['trawl try https://www.example.com/', 'trawl try https://www.example.com/ --crawler ./shop.ts --watch'],
  map: ['trawl map https://www.example.com/', 'trawl map https://www.example.com/ --include "/blog/*" > urls.txt'],
  init: ['trawl init shop', 'trawl init news --json'],
  demo: ['trawl demo', 'trawl demo --rate 120/min'],
};

/** The help lines with a command's examples, ready to paste. */
export function exampleLines(path: string): string[] {
  return ['', 'Examples:', ...(EXAMPLES[path] ?? []).map((line) => `  ${line.replace(/^trawl/, () => TRAWL)}`)];
}
