import type { FetchedPage } from '../ports/fetcher.ts';
import type { Task } from '../task/task/task.ts';
import { isProblem, readUrl } from '../task/url/url.ts';

/** Options for a page that a test makes. */
export interface MadePageOptions {
  /** Its URL, after redirects. Default: `https://www.example.com/`. */
  readonly url?: string;
  /** Default: 200. */
  readonly status?: number;
  /** The media type of the body. Default: `text/html`. */
  readonly contentType?: string;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of its task that differ from those of a seed. */
  readonly task?: Partial<Task>;
}

/** Makes a page without a fetch, as if its body had been found at a URL. Throws if the URL can't be crawled. */
export function madePage(
  body: string | Uint8Array,
  {
    url = 'https://www.example.com/',
    status = 200,
    contentType = 'text/html',
    headers = {},
    task,
  }: MadePageOptions = {},
): { readonly task: Task; readonly fetched: FetchedPage } {
  const read = readUrl(url);
  if (isProblem(read)) throw new Error(`Page.fromHtml: url ${JSON.stringify(url)} can't be used: ${read.problem}`);
  const { href, host, canonical } = read;
  // A string is encoded as UTF-8 below, whatever its `<meta>` says; bytes may be in any encoding.
  const type = typeof body === 'string' ? `${contentType}; charset=utf-8` : contentType;
  return {
    task: { run: 'test', url: href, host, mark: canonical, step: '', depth: 0, queue: 'normal', ...task },
    fetched: {
      finalUrl: href,
      status,
      headers: { 'content-type': type, ...headers },
      body: typeof body === 'string' ? Buffer.from(body) : body,
      durationMs: 0,
    },
  };
}
