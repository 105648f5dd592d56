import { count, counted, duration, perSecond, shownState, size } from '../../../shared/control/format.ts';
import { elapsedMs, type RunProgress } from '../../../shared/ports/runs.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { hostsDownLines } from './hosts-down.ts';
import { leftOutLines } from './left-out.ts';
import type { Line } from './output.ts';
import { stepFailureLines, stepLines } from './step-lines.ts';
import { gotNoAnswer, unreadProxyLine } from './unread-proxy.ts';

export interface SummaryOptions {
  /** Where the records are; absent to leave that out. */
  readonly records?: string;
  /** Further flags that `records RUN` needs to find them, such as ` --output-dir x`. */
  readonly recordsFlag?: string;
  /** The run is a crawl of this machine. */
  readonly isLocal?: boolean;
  /** Ctrl-C or SIGTERM stopped the run early. */
  readonly isInterrupted?: boolean;
  /** The variable that names a proxy which the run didn't use; see `unread-proxy.ts`. */
  readonly unreadProxy?: string | undefined;
}

/** A run's end, or its current state, in one line. */
export function endingLine(progress: RunProgress, { isInterrupted = false }: SummaryOptions = {}): Line {
  const { run, done, bytes } = progress;
  const ms = elapsedMs(progress);
  const rate = done / Math.max(ms / 1_000, 0.001);
  const text = `Run ${run} ${isInterrupted ? 'stopped' : shownState(progress)} after ${duration(ms)}: ${counted(done, 'page')}, ${size(bytes)}, ${perSecond(rate)} pages/s`;
  if (isInterrupted) return { text, mark: 'warning' };
  if (progress.endedAt === undefined) return text;
  return exitCodeOf(progress, false) === 0 ? { text, mark: 'success' } : { text, mark: 'failure', colour: 'red' };
}

/** The summary for people at the end of a run. */
export function summaryLines(progress: RunProgress, options: SummaryOptions = {}): Line[] {
  const { records, recordsFlag = '', isLocal = false } = options;
  const { run, state, duplicate, waiting, inFlight, done, skipped, failed, cancelled, reasons, bytesSaved } = progress;
  const lines: Line[] = [endingLine(progress, options)];
  const { pauseReason } = progress;
  if (options.isInterrupted === true && state === 'paused' && pauseReason !== undefined)
    lines.push(`It is paused: ${pauseReason}`);
  const row = (value: number, name: string, why: Readonly<Record<string, number>> = {}): void => {
    const text = `${count(value).padStart(10)} ${name}${reasonsText(why)}`;
    if (value > 0) lines.push(name === 'failed' ? { text, colour: 'red' } : text);
  };
  row(done, 'done');
  row(skipped, 'skipped', reasons.skipped);
  row(failed, 'failed', reasons.failed);
  lines.push(...stepFailureLines(progress));
  row(cancelled, 'cancelled');
  row(waiting, 'waiting');
  row(inFlight, 'in flight');
  row(duplicate, knownText(progress, isLocal));
  lines.push(...leftOutLines(progress), ...stepLines(progress));
  if (bytesSaved > 0) lines.push(`Not modified: ${size(bytesSaved)} did not have to be fetched again.`);
  if (progress.discovered === 0 && state === 'finished')
    lines.push(duplicate > 0 ? nothingNew(progress, isLocal) : NO_URLS);
  if (isAlone(progress)) lines.push(NO_LINKS);
  if ((reasons.skipped.private_address ?? 0) > 0)
    lines.push('Private addresses are refused; --private-hosts allows named ones.');
  if (done === 0 && (reasons.skipped.content_type ?? 0) > 0) lines.push(NO_TEXT);
  lines.push(...hostsDownLines(progress, recordsFlag));
  if (options.unreadProxy !== undefined && gotNoAnswer(progress)) lines.push(unreadProxyLine(options.unreadProxy));
  if (records !== undefined && done > 0)
    lines.push(`Records: ${records} (read them with: ${TRAWL} records ${run}${recordsFlag})`);
  // The lines about hosts that were given up already say so.
  if (records !== undefined && failed > 0 && progress.hostsDown.count === 0)
    lines.push(`What failed, and why: ${TRAWL} records ${run}${recordsFlag} --failed`);
  if (records !== undefined && done === 0 && isUnexplained(reasons.skipped))
    lines.push(`What was skipped, and why: ${TRAWL} records ${run}${recordsFlag} --skipped`);
  return lines;
}

/** Was anything skipped for a reason whose name alone doesn't explain it? */
function isUnexplained(skipped: RunProgress['reasons']['skipped']): boolean {
  const { not_modified = 0, duplicate = 0 } = skipped;
  return Object.values(skipped).reduce((sum, urls) => sum + urls, 0) > not_modified + duplicate;
}

const NO_URLS = 'The seeds contained no URL to crawl.';

const NO_TEXT =
  "Only text such as HTML is read. A crawler can store other files (patterns: { download: '*' }), or take them (accepts).";

const NO_LINKS =
  'No link was followed: the page has none, or forbids it (nofollow). Links added by JavaScript are not seen.';

/** Did a run that follows links end with only its one seed, though no link was left out? */
function isAlone({ options, state, discovered, duplicate, done, leftOut }: RunProgress): boolean {
  if (!options.follow || state !== 'finished' || discovered !== 1 || done !== 1) return false;
  return duplicate === 0 && Object.values(leftOut).every((links) => links === 0);
}

/** The label for duplicates. They include URLs of earlier runs only if runs share their marks. */
export function knownText({ options, discovered }: RunProgress, isLocal = false): string {
  if (options.dedup === 'run' || options.incremental || discovered === 0) return 'known already';
  const how = isLocal ? 'without --dedup ever' : 'with --fresh';
  return `known already; ${how}, those of earlier runs are crawled again`;
}

/** The sentence about a run of only duplicates. */
export function nothingNew(
  { duplicate, options }: Pick<RunProgress, 'duplicate' | 'options'>,
  isLocal = false,
): string {
  if (options.incremental)
    return `${count(duplicate)} known, none due again; --recrawl-after makes pages due by their age`;
  const how = isLocal ? 'without --dedup ever, they are crawled again' : '--fresh crawls them again';
  return `${count(duplicate)} known, nothing new; ${how}`;
}

/**
 * The exit code of a run that has ended.
 *
 * | code | when                                                                        |
 * |------|-----------------------------------------------------------------------------|
 * | 0    | otherwise: dead letters are data, not failure                               |
 * | 1    | something failed or was refused as private, and nothing was fetched         |
 * | 3    | something failed, and `--strict` was given                                  |
 */
export function exitCodeOf({ done, skipped, failed, reasons }: RunProgress, strict: boolean): number {
  const refused = reasons.skipped.private_address ?? 0;
  if (failed + refused > 0 && done + skipped === refused) return 1;
  return failed > 0 && strict ? 3 : 0;
}

function reasonsText(reasons: Readonly<Record<string, number>>): string {
  const parts = Object.entries(reasons)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, value]) => `${reason} ${count(value)}`);
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}
