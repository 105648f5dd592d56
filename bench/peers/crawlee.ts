import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../shared/runtime/errors.ts';
import { runMeasured } from '../measured-process.ts';
import { type Bench, CONCURRENCY } from '../rows.ts';
import { writeList } from './list.ts';
import { Missing, type PeerFigures } from './peer.ts';

const run = promisify(execFile);

/** Version 4 has another API. */
const PACKAGES = ['@crawlee/http@3', '@crawlee/cheerio@3'];
/** Pages of a round: enough for about ten seconds, so that the first one, in which V8 compiles, hardly counts. */
const PAGES = 10_000;
const PROGRAM = join(import.meta.dirname, 'crawl-by-crawlee.ts');

type CrawlerKind = 'http' | 'cheerio';

/** Crawlee, installed into the bench's temporary folder. */
export class Crawlee {
  readonly version: string;
  readonly #folder: string;

  private constructor(folder: string, version: string) {
    this.#folder = folder;
    this.version = version;
  }

  static async install(bench: Bench): Promise<Crawlee | Missing> {
    const folder = join(bench.folder, 'crawlee');
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    try {
      await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES], { cwd: folder });
    } catch (error: unknown) {
      return new Missing(`Crawlee is left out, because npm can't install it: ${messageOf(error)}`);
    }
    const manifest = await readFile(join(folder, 'node_modules/@crawlee/http/package.json'), 'utf8');
    return new Crawlee(folder, JSON.parse(manifest).version);
  }

  /** Crawls pages of the one fast host. */
  async crawl(bench: Bench, kind: CrawlerKind): Promise<PeerFigures> {
    const urls = await writeList(bench, `crawlee-${kind}`, PAGES);
    const output = join(bench.folder, `crawlee-${kind}.jsonl`);
    const line = [this.#folder, kind, urls, output, String(CONCURRENCY)];
    const { stdout, usage } = await runMeasured(PROGRAM, line, { folder: this.#folder });
    const { pages, seconds } = JSON.parse(stdout);
    if (pages !== PAGES) throw new Error(`expected ${PAGES} pages of Crawlee, got ${pages}`);
    return { pagesPerSecond: pages / seconds, cpuUsPerPage: (1_000 * usage.cpuMs) / pages, rssMb: usage.maxRssMb };
  }
}
