import type { Runs } from '../../ports/runs.ts';
import { MALFORMED_HOST, malformedMarkOf, markOf } from '../../task/url/fingerprint.ts';
import { keyWithLogin } from '../../task/url/logins.ts';
import { isProblem, readUrl, withoutCredentials } from '../../task/url/url.ts';
import { urlKeyOf } from '../../task/url/url-key.ts';

/** The marks of a URL in several runs, whose rules may differ. */
export interface UrlMarks {
  /** The given text, serialised if it is a URL. */
  readonly url: string;
  /** The politeness key; {@link MALFORMED_HOST} for a text that isn't a URL. */
  readonly host: string;
  /** The mark in a run without rules. */
  readonly plain: string;
  /** Run → mark of the first step. */
  readonly ofRun: ReadonlyMap<string, string>;
  /** All marks, each once, the plain one first; with those of the other steps that the runs have come to. */
  readonly all: readonly string[];
}

/** Maximum number of runs searched for a URL, newest first: a few seconds. */
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
      ofRun: new Map(ids.map((id) => [id, plain])),
      all: [plain],
    };
  }
  const ofRun = new Map<string, string>();
  const ofSteps = new Set<string>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const progresses = await Promise.all(some.map((id) => runs.progress(id)));
    for (const [index, id] of some.entries()) {
      const { options, steps = {} } = progresses[index] ?? {};
      const key = keyWithLogin(urlKeyOf(read.canonical, options?.urlKey), read.login);
      ofRun.set(id, markOf(key));
      for (const step of Object.keys(steps)) ofSteps.add(markOf(key, step));
    }
  }
  const plain = markOf(keyWithLogin(read.canonical, read.login));
  return { url: read.href, host: read.host, plain, ofRun, all: [...new Set([plain, ...ofRun.values(), ...ofSteps])] };
}
