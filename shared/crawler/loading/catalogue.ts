import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ConfigurationError } from '../../runtime/errors.ts';
import { nearestOf } from '../../settings/nearest-name.ts';
import { crawlerFiles, ENDINGS, fileNamed, isPath } from './crawler-files.ts';
import { type LoadedCrawler, loadFiles } from './load.ts';

/** Crawlers that come with this program. */
const OWN_FOLDER = join(import.meta.dirname, '../../../crawlers');
/** No crawler of that name was found. One that couldn't be loaded may have had it. */
export class UnknownCrawlerError extends ConfigurationError {
  /** The name of the crawler that resembles it most; undefined if none does. */
  readonly nearest: string | undefined;

  constructor(problems: readonly string[], nearest?: string) {
    super(problems);
    this.nearest = nearest;
  }
}

/**
 * Finds a crawler for a command: by its path, or by its own or its file's name in these folders, which come before the program's own
 * crawlers. If a file has the name, and its crawler too, no other file is loaded.
 *
 * @throws UnknownCrawlerError if there is none
 * @throws ConfigurationError if it can't be loaded
 */
export async function findCrawler(name: string, folders: readonly string[]): Promise<LoadedCrawler> {
  if (isPath(name)) {
    const file = resolve(name);
    if (existsSync(file)) return await loadOne(file);
    throw new UnknownCrawlerError([`expected CRAWLER to be a crawler's name or file: there is no ${file}`]);
  }
  const own = folders.map((folder) => resolve(folder));
  const named = fileNamed(own, name);
  const found = named === undefined ? undefined : await loadOne(named);
  if (found?.crawler.name === name) return found;
  const { loaded, problems } = await loadFiles(crawlerFiles(own));
  const crawler = loaded.find((each) => each.crawler.name === name) ?? found;
  if (crawler !== undefined) return crawler;
  const ours = fileNamed([OWN_FOLDER], name);
  if (ours !== undefined) return await loadOne(ours, { isWatched: false });
  const names = [...loaded, ...(await loadFiles(crawlerFiles([OWN_FOLDER]), { isWatched: false })).loaded].map(
    (each) => each.crawler.name,
  );
  throw new UnknownCrawlerError([missing(name, folders, names), ...problems], nearestOf(name, names));
}

/** The crawlers, by name, of a process that works for many runs. All are loaded before it starts. */
export class Catalogue {
  readonly crawlers: readonly LoadedCrawler[];
  readonly #byName: ReadonlyMap<string, LoadedCrawler>;

  constructor(crawlers: readonly LoadedCrawler[]) {
    this.crawlers = crawlers;
    this.#byName = new Map(crawlers.map((each) => [each.crawler.name, each]));
  }

  /** Returns the crawler of this name. @throws ConfigurationError if there is none */
  named(name: string): LoadedCrawler {
    const found = this.#byName.get(name);
    if (found !== undefined) return found;
    throw new ConfigurationError([`there is no crawler "${name}" here`]);
  }

  /** The versions of its crawlers, by name. */
  get versions(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.crawlers.map(({ crawler, version }) => [crawler.name, version]));
  }
}

/** The crawlers that were found, and every problem with them. */
export interface Found {
  /** The folders' crawlers first, then the program's own. */
  readonly crawlers: readonly LoadedCrawler[];
  readonly problems: readonly string[];
  /** The crawler that was named; undefined if it wasn't found, which is then among the problems. */
  readonly chosen: LoadedCrawler | undefined;
}

/**
 * Finds all crawlers in these folders, the one that is named, and the program's own. The one that is named can be elsewhere, and replaces
 * a crawler of the same name. One of the program's own is left out if another has its name.
 */
export async function findAll(folders: readonly string[], named: string): Promise<Found> {
  const path = isPath(named) ? resolve(named) : undefined;
  const files = crawlerFiles(folders.map((folder) => resolve(folder))).filter((file) => file !== path);
  const { loaded, problems } = await loadFiles(path === undefined ? files : [path, ...files]);
  const byPath = loaded.find(({ file }) => resolve(file) === path);
  const own = loaded.filter((each) => each === byPath || each.crawler.name !== byPath?.crawler.name);
  const ours = (await loadFiles(crawlerFiles([OWN_FOLDER]), { isWatched: false })).loaded;
  const isFree = ({ crawler }: LoadedCrawler): boolean => own.every((each) => each.crawler.name !== crawler.name);
  const crawlers = [...own, ...ours.filter(isFree)];
  const chosen = path === undefined ? chosenByName(named, crawlers) : byPath;
  const names = crawlers.map(({ crawler }) => crawler.name);
  // The problem with a file at that path has already been reported.
  const lost = chosen === undefined && path === undefined ? [missing(named, folders, names)] : [];
  return { crawlers, chosen, problems: [...problems, ...sameNames(own), ...lost] };
}

/** Like {@link findAll}, but throws problems. @throws ConfigurationError with every problem with any of the crawlers */
export async function loadCatalogue(
  folders: readonly string[],
  named: string,
): Promise<{ readonly catalogue: Catalogue; readonly chosen: LoadedCrawler }> {
  const { crawlers, problems, chosen } = await findAll(folders, named);
  if (problems.length > 0 || chosen === undefined) throw new ConfigurationError(problems);
  return { catalogue: new Catalogue(crawlers), chosen };
}

/** Finds a crawler by its own name, otherwise by the name of its file. */
function chosenByName(name: string, crawlers: readonly LoadedCrawler[]): LoadedCrawler | undefined {
  const isFile = ({ file }: LoadedCrawler): boolean => ENDINGS.some((ending) => file.endsWith(`/${name}${ending}`));
  return crawlers.find(({ crawler }) => crawler.name === name) ?? crawlers.find(isFile);
}

function sameNames(crawlers: readonly LoadedCrawler[]): string[] {
  return crawlers.flatMap(({ crawler, file }, at) => {
    const first = crawlers.findIndex((each) => each.crawler.name === crawler.name);
    return first === at ? [] : [`${file}: its name, ${crawler.name}, is also that of ${crawlers[first]?.file}`];
  });
}

async function loadOne(file: string, how?: { readonly isWatched: boolean }): Promise<LoadedCrawler> {
  const { loaded, problems } = await loadFiles([file], how);
  const [crawler] = loaded;
  if (crawler === undefined) throw new ConfigurationError(problems);
  return crawler;
}

function missing(name: string, folders: readonly string[], names: readonly string[]): string {
  const here = fileNamed([resolve()], name);
  const nearest = nearestOf(name, names);
  const guess = here === undefined ? nearest : `./${relative(resolve(), here)}`;
  const mend = guess === undefined ? '' : `: did you mean ${guess}?`;
  const where = folders.map((folder) => `${folder}/`).join(' or ');
  return `expected CRAWLER to be the name of a crawler in ${where} (CRAWLERS_DIR), or its file, got "${name}"${mend}`;
}
