import type { Runs } from '../../ports/runs.ts';
import { MALFORMED_HOST, malformedMarkOf, markOf } from '../../task/url/fingerprint.ts';
import { keyWithLogin } from '../../task/url/logins.ts';
import { isProblem, readUrl, withoutCredentials } from '../../task/url/url.ts';
import { urlKeyOf } from '../../task/url/url-key.ts';

/** The mark of a URL at one step. */
export interface StepMark {
  /** Absent for the first step. */
  readonly step?: string;
  readonly mark: string;
}

/** The marks of a URL in several runs, whose rules may differ. */
export interface UrlMarks {
  /** The given text, serialised if it is a URL. */
  readonly url: string;
  /** The politeness key; {@link MALFORMED_HOST} for a text that isn't a URL. */
  readonly host: string;
  /** The mark in a run without rules. */
  readonly plain: string;
  /** Run → its marks: of the first step, then of each other that the run has come to. */
  readonly ofRun: ReadonlyMap<string, readonly StepMark[]>;
  /** All marks, each once, the plain one first. */
  readonly all: readonly string[];
}

/** Maximum number of runs searched for a URL, and of their steps, newest first: a few seconds. */
export const MOST_RUNS_OF_URL = 20_000;
/** Runs read at once, so that the store is not kept busy for long. */
const AT_ONCE = 100;

/** Finds the marks of a text in these runs. */
export async function marksOfUrl(text: string, ids: readonly string[], runs: Runs): Promise<UrlMarks> {
  const read = readUrl(text);
  if (isProblem(read)) {
    const plain = malformedMarkOf(text);
    return {
      url: withoutCredentials(text),
      host: MALFORMED_HOST,
      plain,
      ofRun: new Map(ids.map((id) => [id, [{ mark: plain }]])),
      all: [plain],
    };
  }
  const ofRun = new Map<string, readonly StepMark[]>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const progresses = await Promise.all(some.map((id) => runs.progress(id)));
    for (const [index, id] of some.entries()) {
      const { options, steps = {} } = progresses[index] ?? {};
      const key = keyWithLogin(urlKeyOf(read.canonical, options?.urlKey), read.login);
      const others = Object.keys(steps).map((step) => ({ step, mark: markOf(key, step) }));
      ofRun.set(id, [{ mark: markOf(key) }, ...others]);
    }
  }
  const plain = markOf(keyWithLogin(read.canonical, read.login));
  const marks = [...ofRun.values()].flat().map(({ mark }) => mark);
  return { url: read.href, host: read.host, plain, ofRun, all: [...new Set([plain, ...marks])] };
}
