import { count, counted, duration, momentText } from '../../../shared/control/format.ts';
import { hostText, paceText } from '../../../shared/control/hosts/pause-text.ts';
import type { Biography, RunChapter } from '../../../shared/control/urls/biography.ts';
import type { UnknownUrl } from '../../../shared/control/urls/unknown-url.ts';
import { MOST_RUNS_OF_URL } from '../../../shared/control/urls/url-marks.ts';
import type { Place, TaskTrace } from '../../../shared/ports/biographer.ts';
import type { AttemptNote } from '../../../shared/ports/frontier/frontier.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import { quoted, TRAWL } from '../../../shared/runtime/started-as.ts';
import { isProblem, readUrl } from '../../../shared/task/url/url.ts';
import { leftOutLines } from './left-out.ts';
import { table } from './table.ts';

interface BiographyTextOptions {
  /** The biography is from the crawls on this machine, not from the fleet. */
  readonly isLocal: boolean;
  /** This machine also has crawls of its own, which were not searched. */
  readonly hasOthers: boolean;
}

/** A URL's history, for people. */
export function biographyLines(biography: Biography, options: BiographyTextOptions): string[] {
  const { url, runs, attempts, letters, lettersProblem, known } = biography;
  const lines = [url, ...knownLines(biography, options)];
  for (const chapter of runs) {
    const { run, runState, step } = chapter;
    const at = step === undefined ? '' : `, step ${step}`;
    lines.push(`Run ${run} (${runState})${at}: ${chapterText(chapter, url)}${groupText(chapter)}`);
  }
  if (attempts.length > 0) lines.push('Failed attempts of the last 24 hours:', ...table(attempts.map(attemptRow)));
  for (const letter of letters ?? []) {
    const { id, reason, failedAt } = letter as { id: string; reason: string; failedAt: string };
    lines.push(`Dead letter ${id}: ${reason}, ${momentText(failedAt)} (${TRAWL} dlq show ${quoted(id)})`);
  }
  const isNowhere = !known && attempts.length + (letters?.length ?? 0) === 0 && runs.every(isUnknown);
  const hint = runs.length > 0 ? [] : [`To see which rule of a run leaves it out: ${TRAWL} url URL --run RUN`];
  if (isNowhere) lines.push(...(problemOf(url) ?? hint));
  if (letters === null) lines.push(`Dead letters: unknown, since RabbitMQ can't be reached: ${lettersProblem}`);
  return lines;
}

/** What is known apart from single runs. A local crawl has its own marks, unless it was started with `--dedup ever`. */
function knownLines({ known, runs, truncated }: Biography, { isLocal, hasOthers }: BiographyTextOptions): string[] {
  if (isLocal) {
    if (known) return ['Known to crawls with --dedup ever.'];
    if (runs.length > 0) return [];
    return [
      truncated
        ? `None of the ${count(MOST_RUNS_OF_URL)} newest crawls on this machine knows it.`
        : 'No crawl on this machine knows it.',
    ];
  }
  const lines = [known ? 'Known: a run has taken it.' : 'Not in crawled_urls.'];
  if (runs.length > 0) return lines;
  const elsewhere = hasOthers ? ` (crawls on this machine: ${TRAWL} url --local)` : '';
  const none = truncated ? `None of the ${count(MOST_RUNS_OF_URL)} newest runs in Redis` : 'No run in Redis';
  return [...lines, `${none} knows more about it${elsewhere}.`];
}

/** Does a run know nothing about the URL? */
function isUnknown({ place, record, hasFailed, isMarked }: RunChapter): boolean {
  return place === undefined && record === undefined && !hasFailed && !isMarked;
}

/** What is wrong with an unknown text; undefined if it is a URL. */
function problemOf(text: string): [string] | undefined {
  const read = readUrl(text);
  if (!isProblem(read)) return undefined;
  const meant = readUrl(`https://${text}`);
  const isHost = !isProblem(meant) && /^[^/]+\.[^/]|^localhost\b|^[^/]+:\d/.test(text);
  const hint = isHost ? `did you mean ${meant.href}` : 'write the URL in full, like https://www.example.com/product/1';
  return [`It is not a URL, since ${read.problem}, and no such text was refused as malformed: ${hint}`];
}

/** Where a task is in one run, or its outcome. */
function chapterText(chapter: RunChapter, url: string): string {
  const { place, record, hasFailed, isMarked, hasOwnMarks, unknown, forbidden } = chapter;
  if (place !== undefined) return placeText(place, chapter);
  if (record !== undefined) return recordText(record);
  if (hasFailed) return 'failed; its records are not on this machine.';
  if (!isMarked) return `${unknownText(unknown)}${groupsText(chapter, url)}`;
  const robots = forbidden === undefined ? '' : ` Currently, ${forbidden}.`;
  return hasOwnMarks
    ? `done or skipped; its records are not on this machine.${robots}`
    : `marked as taken, by this run or another that shares its marks.${robots}`;
}

/** Possible reasons why a run doesn't know a URL. */
function unknownText(unknown: UnknownUrl | undefined): string {
  if (unknown === undefined) return 'not known.';
  const { by, patterns = [], progress } = unknown;
  const own = progress.steps === undefined ? '' : ', unless a step has patterns of its own';
  if (by === 'exclude') return `not known; links to it are left out by --exclude ${patterns[0]}${own}.`;
  if (by === 'include') return `not known; links to it are left out, since no --include matches it${own}.`;
  if (!progress.options.follow && progress.steps === undefined)
    return 'not known; it follows no links, except where a step does (--follow).';
  const leftOut = leftOutLines(progress);
  if (leftOut.length === 0) return 'not known; no page has linked to it, and no link was left out.';
  return `not known; no page has linked to it, or the link was left out. ${leftOut.join(' ')}`;
}

/** Where to find a page of a group: its mark names the group's owner, so it can't be looked up by its URL. */
function groupsText({ run, unknown }: RunChapter, url: string): string {
  if (unknown?.progress.options.joins === undefined) return '';
  return ` A group may have it: ${TRAWL} records ${run} --all --where ${quoted(`url=${url}`)}`;
}

/** The pages that the joins of an owner's group wait for. */
function groupText({ group }: RunChapter): string {
  if (group === undefined) return '';
  if (group.open > 0) return ` Its joins wait for ${counted(group.open, 'page')} of its group.`;
  return ` Its group has ended: ${counted(group.joins, 'join')} still to be made of it.`;
}

function placeText(place: Place, { run, runState, pauseReason, host }: RunChapter): string {
  const attempts = place.state.attempts === 0 ? '' : `, ${counted(place.state.attempts, 'attempt')} so far`;
  const paused =
    runState === 'paused'
      ? ` The run is paused${pauseReason === undefined ? '' : ` (${pauseReason})`}: ${TRAWL} resume ${run}`
      : '';
  switch (place.at) {
    case 'waiting':
      return `waits in the ${place.queue} list of ${place.host === undefined ? 'its host' : `${place.host}, which it was redirected to`}, ${count(place.ahead)} ahead of it${attempts}: ${waitText(place.ahead, host)}.${paused}`;
    case 'retry':
      if (place.forRoom === true) return `waits until Redis has room for its links${attempts}.${paused}`;
      return `waits for its next attempt, due in ${duration(place.inMs)}${attempts}.${paused}`;
    case 'publishing':
      return `is on its way to RabbitMQ (release ${place.release}${attempts}).`;
    case 'queued':
      return `is in RabbitMQ's ${place.queue} queue (release ${place.release}${attempts}); comes back by itself in ${duration(place.leaseMs)} at the latest.${paused}`;
    case 'working':
      return `is worked on by ${place.worker} for ${duration(place.forMs ?? 0)} (release ${place.release}${attempts}).`;
  }
}

/** The reason why a host's list waits. */
function waitText(ahead: number, host: TaskTrace['host']): string {
  const { intervalMs, pausedMs, isUnreachable, nextLookMs } = host;
  if (isUnreachable) return `the host is unreachable: ${hostText(host)}`;
  if (pausedMs > 0) return `the host is ${hostText(host)}`;
  if (intervalMs === 0) return 'its turn comes as soon as a worker is free';
  return `${paceText(host)}, about ${duration(Math.max(nextLookMs, 0) + (ahead + 1) * intervalMs)}`;
}

function recordText(record: PageRecord): string {
  const { worker, fetchedAt, attempt } = record;
  const by = `${momentText(fetchedAt)} by ${worker}, attempt ${attempt}`;
  if (record.outcome === 'done') {
    const from = record.redirects === undefined ? '' : ` from ${record.finalUrl}, to which it redirects`;
    return `done: HTTP ${record.status}${from}, ${by}.`;
  }
  const { status, error } = record;
  const why = isSaid(error, status) ? '' : `: ${error}`;
  return `${record.outcome}: ${record.reason}${status === undefined ? '' : ` (HTTP ${status})`}, ${by}${why}.`;
}

/** Does the error say nothing beyond the status? */
function isSaid(error: string | undefined, status: number | undefined): boolean {
  return error === undefined || error === `HTTP ${status}`;
}

function attemptRow({ at, worker, reason, status, error }: AttemptNote): string[] {
  return [
    `  ${momentText(new Date(at).toISOString())}`,
    worker,
    reason,
    status === undefined ? '' : String(status),
    isSaid(error, status) ? '' : (error ?? ''),
  ];
}
