/** The expected outcome of a URL: done, or another one with its reason. */
export type Ending = 'done' | `failed:${string}` | `skipped:${string}`;

/** URLs that are not plain pages, with their expected outcomes. */
export const TROUBLE: Readonly<Record<string, Ending>> = {
  '/status/404': 'failed:http_4xx',
  '/status/500': 'failed:http_5xx',
  '/truncated': 'failed:connection',
  '/type?ct=image/png': 'skipped:content_type',
  '/slow/300': 'done',
  '/charset/windows-1252?say=header': 'done',
};

/** The paths of a crawl, pages with some trouble among them, and their expected outcomes. */
export function catalogue(pages: number, trouble = TROUBLE): Map<string, Ending> {
  const paths = new Map<string, Ending>();
  const troubles = Object.entries(trouble);
  const every = Math.max(1, Math.floor(pages / (troubles.length + 1)));
  for (let page = 1; page <= pages; page++) {
    paths.set(`/page/${page}`, 'done');
    const next = page % every === 0 ? troubles.shift() : undefined;
    if (next !== undefined) paths.set(...next);
  }
  for (const [path, ending] of troubles) paths.set(path, ending);
  return paths;
}

/** Expects all these paths to be done. */
export function allDone(paths: readonly string[]): Record<string, Ending> {
  return Object.fromEntries(paths.map((path) => [path, 'done']));
}
