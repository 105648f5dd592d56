import type { Biographer, TaskTrace } from '../../ports/biographer.ts';
import type { AttemptHistory, AttemptNote } from '../../ports/frontier/frontier.ts';
import type { GroupStanding, Groups } from '../../ports/frontier/groups.ts';
import type { PageRecord } from '../../ports/record.ts';
import type { RobotsStore } from '../../ports/robots-store.ts';
import type { RunOverview } from '../../ports/run-overview.ts';
import type { Runs } from '../../ports/runs.ts';
import type { RecordSource } from '../../ports/sink.ts';
import { InterruptedError, messageOf } from '../../runtime/errors.ts';
import { groupOf } from '../../task/group/group.ts';
import { partsOf } from '../../task/parts.ts';
import { robotsRefusal } from '../../task/robots/robots-refusal.ts';
import {
  fingerprintOf,
  hostOfMark,
  keyOfMark,
  MALFORMED_HOST,
  malformedMarkOf,
  markOf,
  taskIdOf,
} from '../../task/url/fingerprint.ts';
import { keyWithLogin, loginFor } from '../../task/url/logins.ts';
import { isProblem, originOf, readUrl } from '../../task/url/url.ts';
import type { FoundLetter } from '../letters/letter-filter.ts';
import { letterJson } from '../letters/letter-json.ts';
import { type UnknownUrl, unknownUrl } from './unknown-url.ts';
import { MOST_RUNS_OF_URL, marksOfUrl, type StepMark } from './url-marks.ts';

/** Everything known about a URL. */
export interface Biography {
  readonly url: string;
  readonly mark: string;
  /** A run that shares its marks has taken the URL. */
  readonly known: boolean;
  /** A chapter for each run, and each of its steps, that knows the URL; with `--run`, only of that run, which has one in any case. */
  readonly runs: readonly RunChapter[];
  /** There are older runs, which were not searched, or not all of whose steps were. */
  readonly truncated: boolean;
  /** The last ten failed attempts of the past 24 hours, newest first. */
  readonly attempts: readonly AttemptNote[];
  /** Dead letters as `dlq show` prints them; null if RabbitMQ could not be reached. */
  readonly letters: readonly object[] | null;
  readonly lettersProblem: string | null;
}

export interface RunChapter extends TaskTrace {
  /** Absent for the first step. */
  readonly step?: string;
  readonly task: string;
  /** Why the whole run waits, if it is paused. */
  readonly pauseReason?: string;
  /** The group that the task owns, for which its joins wait. */
  readonly group?: Pick<GroupStanding, 'open' | 'joins'>;
  /** The task's record, if this machine has it. */
  readonly record?: PageRecord;
  /** Why the currently known robots.txt forbids the URL. Only for a run that obeys it and whose records are not on this machine. */
  readonly forbidden?: string;
  /** Possible reasons why the run doesn't know the URL, if it doesn't. */
  readonly unknown?: UnknownUrl;
}

/** Number of tasks that are searched thoroughly, those of the newest runs; see {@link HowToTrace}. */
const MOST_TRACED_THOROUGHLY = 100;
/** Tasks traced at once, so that the store is not kept busy for long. */
const TRACED_AT_ONCE = 100;
/** Maximum number of runs searched for the record: any run that shares its marks may have taken the URL. */
const MOST_RECORDS = 20;
const MOST_ATTEMPTS = 10;

/** The places to look a URL up. The caller closes what it opened. */
export interface Archives {
  readonly stores: {
    readonly runs: Runs & RunOverview;
    readonly biographer: Biographer;
    readonly frontier: AttemptHistory & Pick<Groups, 'group'>;
    readonly robots: Pick<RobotsStore, 'find'>;
  };
  readonly records: <T>(action: (records: RecordSource) => Promise<T>) => Promise<T>;
  /** Returns the dead letters that `isMeant` selects. */
  readonly letters: (isMeant: (found: FoundLetter) => boolean) => Promise<readonly FoundLetter[]>;
}

/** Collects everything known about a URL, in one run or in all of them. */
export async function lookUp(text: string, run: string | undefined, archives: Archives): Promise<Biography> {
  const { stores } = archives;
  // One more than needed, to see whether there are older runs.
  const listed = run === undefined ? await stores.runs.list(MOST_RUNS_OF_URL + 1) : [run];
  const ids = listed.slice(0, MOST_RUNS_OF_URL);
  const { url, host, plain, ofRun, all } = await marksOfUrl(text, ids, stores.runs);
  const asked = ids.flatMap((id) => (ofRun.get(id) ?? []).map((at): Asked => ({ run: id, ...at })));
  const tasks = asked.slice(0, MOST_RUNS_OF_URL);
  const [known, attempts, traces, letters, refusal] = await Promise.all([
    Promise.all(all.map((mark) => stores.biographer.isKnown(mark))),
    Promise.all(all.map((mark) => stores.frontier.attempts(mark))),
    tracesOf(tasks, host, stores.biographer),
    lettersOf(all, host, archives),
    refusalOf(url, stores.robots),
  ]);
  const chapterOf = (traced: Traced, record?: PageRecord): Promise<RunChapter> =>
    writeChapter(traced, { url, record, refusal }, stores);
  const chapters: RunChapter[] = [];
  let unknown: Traced | undefined;
  let looked = 0;
  for (const traced of traces) {
    const { trace, mark } = traced;
    const { place, isMarked, hasFailed, hasOwnMarks } = trace;
    const isOver = (isMarked || hasFailed) && place === undefined;
    const mayHave = isOver && looked++ < MOST_RECORDS;
    const record = mayHave ? await recordOf(trace.run, taskIdOf(trace.run, mark), archives) : undefined;
    const isItsOwn = place !== undefined || hasFailed || record !== undefined || (isMarked && hasOwnMarks);
    if (isItsOwn || (run !== undefined && isMarked)) chapters.push(await chapterOf(traced, record));
    else if (run !== undefined) unknown ??= traced;
  }
  if (chapters.length === 0 && unknown !== undefined) chapters.push(await chapterOf(unknown));
  const newest = attempts
    .flat()
    .sort((a, b) => b.at - a.at)
    .slice(0, MOST_ATTEMPTS);
  const [first] = run === undefined ? [] : (ofRun.get(run) ?? []);
  const truncated = listed.length > ids.length || asked.length > tasks.length;
  const mark = first?.mark ?? plain;
  return { url, mark, known: known.includes(true), runs: chapters, truncated, attempts: newest, ...letters };
}

interface Found {
  readonly url: string;
  readonly record: PageRecord | undefined;
  /** Why robots.txt, as known now, forbids the URL. */
  readonly refusal: string | undefined;
}

/** Tells what became of a task, or why the run doesn't know it. */
async function writeChapter(
  { trace, step, mark }: Traced,
  { url, record, refusal }: Found,
  { runs, frontier }: Archives['stores'],
): Promise<RunChapter> {
  const { run, runState, place, isMarked, hasFailed } = trace;
  const isKnown = isMarked || hasFailed || place !== undefined;
  const isUnknown = !isKnown && !isProblem(readUrl(url));
  const isTold = !isKnown || place !== undefined || record !== undefined || hasFailed;
  const isPaused = runState === 'paused';
  const progress = isPaused || isUnknown || (!isTold && refusal !== undefined) ? await runs.progress(run) : undefined;
  const { pauseReason } = progress ?? {};
  const group = isMarked ? await frontier.group(run, groupOf(mark)) : undefined;
  return {
    ...trace,
    ...(step === undefined ? {} : { step }),
    task: taskIdOf(run, mark),
    ...(group === undefined ? {} : { group: { open: group.open, joins: group.joins } }),
    ...(pauseReason === undefined ? {} : { pauseReason }),
    ...(record === undefined ? {} : { record }),
    ...(isTold || refusal === undefined || progress?.options.robots === 'ignore' ? {} : { forbidden: refusal }),
    ...(isUnknown && progress !== undefined ? { unknown: unknownUrl(url, progress) } : {}),
  };
}

/** A task to trace: a URL at one step of a run. */
interface Asked extends StepMark {
  readonly run: string;
}

interface Traced extends StepMark {
  readonly trace: TaskTrace;
}

/** Traces tasks, of the newest run first: the first ones thoroughly, the others quickly. Leaves out those of runs that the store doesn't know. */
async function tracesOf(tasks: readonly Asked[], host: string, biographer: Biographer): Promise<Traced[]> {
  const traces: Traced[] = [];
  let done = 0;
  for (const some of partsOf(tasks, TRACED_AT_ONCE)) {
    const isQuick = done >= MOST_TRACED_THOROUGHLY;
    const found = await Promise.all(some.map(({ run, mark }) => biographer.trace(run, { mark, host }, { isQuick })));
    for (const [index, task] of some.entries()) {
      const trace = found[index];
      if (trace !== undefined) traces.push({ ...task, trace });
    }
    done += some.length;
  }
  return traces;
}

/** Returns why the known robots.txt rules of a URL's origin forbid it; undefined if they don't. */
async function refusalOf(text: string, robots: Pick<RobotsStore, 'find'>): Promise<string | undefined> {
  const url = readUrl(text);
  if (isProblem(url)) return undefined;
  const rules = await robots.find(originOf(url.href));
  return rules === undefined ? undefined : robotsRefusal(rules, url.href);
}

/** Finds the record of a task, if this machine has the records of its run. */
function recordOf(run: string, task: string, { records }: Archives): Promise<PageRecord | undefined> {
  return records(async (source) => ((await source.has(run)) ? await source.find(run, task) : undefined));
}

async function lettersOf(
  marks: readonly string[],
  host: string,
  { letters }: Archives,
): Promise<Pick<Biography, 'letters' | 'lettersProblem'>> {
  try {
    return { letters: (await letters(letterJudge(marks, host))).map(letterJson), lettersProblem: null };
  } catch (error: unknown) {
    if (error instanceof InterruptedError) throw error;
    return { letters: null, lettersProblem: messageOf(error) };
  }
}

/**
 * Returns a test for letters of a URL, cheap enough for a hundred thousand of them: by id, or, only for letters of the URL's hosts, by
 * their URL.
 */
function letterJudge(marks: readonly string[], host: string): (found: FoundLetter) => boolean {
  const fingerprints = new Set(marks.map(fingerprintOf));
  const hosts = new Set([host, ...marks.map((mark) => hostOfMark(keyOfMark(mark)))]);
  return ({ letter, message: { id = '' }, host: own = MALFORMED_HOST }) => {
    if (letter === undefined) return false;
    const { run, step, logins } = letter;
    if (id.startsWith(`${run}:`) && fingerprints.has(id.slice(run.length + 1))) return true;
    if (!hosts.has(own)) return false;
    const url = readUrl(letter.url);
    return marks.includes(
      isProblem(url)
        ? malformedMarkOf(letter.url)
        : markOf(keyWithLogin(url.canonical, loginFor(url.href, logins)), step),
    );
  };
}
