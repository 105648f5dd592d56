import type { MemoryUse } from '../ports/frontier/store-memory.ts';
import type { LiveWorker, WorkerBound } from '../ports/roster.ts';
import type { HostLine } from '../ports/run-overview.ts';
import { elapsedMs, REPLAYER, type RunProgress } from '../ports/runs.ts';
import { quoted, TRAWL, WORK_COMMAND } from '../runtime/started-as.ts';
import { SECOND_MS } from '../task/durations.ts';
import { alarmText, areSomeTooLarge, FULL_TEXT, isQueueFull, reportedAlarm, TOO_LARGE_TEXT } from './broker-trouble.ts';
import { count, duration } from './format.ts';
import { fullnessText } from './fullness.ts';
import { giveUpText, paceText, pauseText, troubleText } from './hosts/pause-text.ts';
import { haveNothingToDo } from './workers/idle-workers.ts';
import { pagesPerSecondOfOne } from './workers/workers-wanted.ts';

/** The cause that keeps a run from going faster, and the time it will probably take. */
export interface Bottleneck {
  /** A short fixed name, for scripts. */
  readonly name:
    | 'none'
    | 'paused'
    | 'no workers'
    | 'workers waiting'
    | 'broker'
    | 'undelivered'
    | 'host'
    | 'host paused'
    | 'host unreachable'
    | 'network'
    | 'proxies'
    | 'sink'
    | 'retries'
    | 'slots'
    | 'cpu'
    | 'memory'
    | 'files'
    | 'services'
    | 'store full'
    | 'producers'
    | 'producer lost';
  /** An explanation for people; empty if nothing is in the way. */
  readonly sentence: string;
  /** Milliseconds that what is left will take; undefined if that is not known, see {@link bottleneckOf}. */
  readonly etaMs: number | undefined;
}

interface Circumstances {
  readonly progress: RunProgress;
  readonly hosts: readonly HostLine[];
  /** The run has more hosts than `hosts` lists. Default: false. */
  readonly hasMoreHosts?: boolean;
  /** Live workers. Absent if this process is the only worker. */
  readonly workers?: readonly LiveWorker[];
  /** The command that resumes a crawl of one process; absent for a fleet's run. */
  readonly resumeCommand?: string | undefined;
  /** Recent pages per second. */
  readonly rate: number;
  /** The bound of this process' worker, if it is the only one. */
  readonly ownBound?: WorkerBound;
  /** Milliseconds that the fleet's longest waiting host has been due; absent if not read. */
  readonly oldestDueMs?: number;
  /** How full the store is; absent if it has no limit, or if not read. */
  readonly memory?: MemoryUse | undefined;
}

/** A time counts as clearly longer than another if it is this many times as long. */
const CLEARLY_LONGER = 1.5;
/** Minimum remaining time of a host for it to be named. */
const WORTH_NAMING_MS = 5_000;
/** A host that has been due for longer than this shows that releases don't keep up. */
const OVERLOOKED_MS = 10_000;
/** A pause longer than this is named instead of the host's pace. */
const LONG_PAUSE_MS = 2_000;

/** The explanation for a worker that can't work on more pages at once. */
const STRAINED = {
  proxies: (id: string) => `${id} can use none of its proxies: its log says why`,
  sink: (id: string) => `${id} waits for its records to be stored: its sink is slow, or hangs (SINK)`,
  network: (id: string) => `${id} gets no answer from any host: its network may be down`,
  cpu: (id: string, isLocal: boolean) =>
    `${id} has no CPU time left: ${isLocal ? 'a fleet uses more cores' : 'more workers help, on other cores'}`,
  memory: (id: string) => `${id} is short of memory: it takes fewer pages at once, and large ones wait (BODY_MEMORY)`,
  files: (id: string) => `${id} may not open more files: raise the limit (ulimit -n)`,
} as const;
const SERVICES_BUSY = 'Redis, RabbitMQ or their machine is too busy';
const SINK_SLOW = 'records take seconds to be stored: the sink is slow, or hangs (SINK)';
/** The name of the worker in a crawl of one process. */
const ONE_PROCESS = 'its process';

/**
 * Finds out what a run is waiting for, and how long what is left will take.
 *
 * | the run                                        | will take                                                  |
 * |------------------------------------------------|------------------------------------------------------------|
 * | stands still, or waits for next attempts only  | nobody knows                                               |
 * | is held up by one host                         | what that host needs                                       |
 * | is held up by anything else                    | what its recent pace needs                                 |
 * | has no pace yet                                | what its slowest host needs, if all hosts are listed and workers usually do all other pages meanwhile; otherwise nobody knows |
 */
export function bottleneckOf(about: Circumstances): Bottleneck {
  const { progress, hosts, workers, resumeCommand, rate } = about;
  const isLocal = resumeCommand !== undefined || about.ownBound !== undefined;
  const left = progress.waiting + progress.inFlight;
  const steadyMs = rate > 0 ? (left / rate) * 1_000 : undefined;
  const paceMs = steadyMs ?? usualMs(left, workers);
  const say = (name: Bottleneck['name'], sentence: string): Bottleneck => ({ name, sentence, etaMs: steadyMs });
  /** Nothing moves until somebody acts, or the network is back. */
  const stands = (name: Bottleneck['name'], sentence: string): Bottleneck => ({ name, sentence, etaMs: undefined });

  if (progress.endedAt !== undefined) return { name: 'none', sentence: '', etaMs: 0 };
  const { run, producers } = progress;
  if (progress.state === 'paused') {
    const why = progress.pauseReason === undefined ? '' : ` (${progress.pauseReason})`;
    return stands('paused', `paused${why}; ${TRAWL} resume ${run}`);
  }
  if (progress.state === 'cancelled' && progress.waiting > 0)
    return stands('none', `what still waits is yet to be dropped: ${TRAWL} cancel ${run}`);
  if (progress.stoppedAt !== undefined && resumeCommand !== undefined)
    return stands('no workers', nobodyCrawls(resumeCommand));
  const bounds = boundsOf(about);
  // Seeds are fetched through proxies too.
  const isBegun = left > 0 || producers.open > 0;
  if (isBegun && bounds.length > 0 && bounds.every(({ bound }) => bound === 'proxies'))
    return stands('proxies', 'no proxy of PROXY_URL can be used: the log says why; each is tried again by itself');
  if (left === 0) {
    if (producers.open === 0)
      return producers.lost > 0 ? stands('producer lost', lostProducers(progress)) : stands('none', '');
    const full = about.memory === undefined ? undefined : fullnessText(about.memory);
    if (full !== undefined) return stands('store full', `Redis ${full}`);
    // A crawl of one process shows its own reading.
    return about.ownBound === undefined ? stands('producers', waitsForUrls(run)) : stands('none', '');
  }
  if (workers?.length === 0) {
    const sentence =
      resumeCommand === undefined
        ? `no worker is running: start one with ${WORK_COMMAND}`
        : nobodyCrawls(resumeCommand);
    return stands('no workers', sentence);
  }
  if (workers?.every(({ state }) => state !== 'consuming')) {
    return stands('workers waiting', `workers are ${workers[0]?.state ?? 'gone'}`);
  }
  const alarm = reportedAlarm(workers ?? []);
  if (alarm !== undefined) return stands('broker', `RabbitMQ ${alarmText(alarm)}`);
  if (isUndelivered(about)) {
    const sentence = `RabbitMQ was given ${count(progress.inFlight)}, and no worker gets any of them: ${TRAWL} doctor`;
    return stands('undelivered', sentence);
  }
  const busy = busySlots(about, isLocal);
  if (busy === undefined && isQueueFull(workers ?? [])) return say('broker', `RabbitMQ ${FULL_TEXT}`);
  if (busy === undefined && areSomeTooLarge(workers ?? [])) return say('broker', `RabbitMQ ${TOO_LARGE_TEXT}`);
  if (bounds.length > 0 && bounds.every(({ bound }) => bound === 'network'))
    return stands('network', `no host answers, so the network may be down${giveUpOfAll(about)}`);
  if (bounds.length > 0 && bounds.every(({ bound }) => bound === 'sink')) return stands('sink', SINK_SLOW);
  const slowest = slowestHost(hosts, progress.readAt);
  const byHost = slowest && hostBottleneck(slowest, progress.readAt, isLocal);
  const namesHost = slowest !== undefined && slowest.needsMs > WORTH_NAMING_MS ? byHost : undefined;
  const isTold =
    steadyMs !== undefined || (slowest !== undefined && about.hasMoreHosts !== true && slowest.needsMs >= paceMs);
  const told = (found: Bottleneck): Bottleneck => (isTold ? found : { ...found, etaMs: undefined });
  // Without a pace, a host that may not be asked is the likeliest cause, however soon it will be.
  const compared = byHost?.name === 'host' ? paceMs : (steadyMs ?? 0);
  if (slowest !== undefined && byHost !== undefined && slowest.needsMs > CLEARLY_LONGER * compared) return told(byHost);
  if (hosts.length === 0 && progress.waiting > 0)
    return stands('retries', `${count(progress.waiting)} wait for their next attempt`);
  const takesLonger = slowest !== undefined && paceMs > CLEARLY_LONGER * slowest.needsMs;
  if (namesHost !== undefined && !takesLonger) return told(namesHost);
  for (const { id, bound } of bounds) {
    if (bound !== 'slots' && bound !== 'politeness')
      return say(bound, STRAINED[bound](isLocal ? ONE_PROCESS : id, isLocal));
  }
  const isPolite = bounds.length > 0 && bounds.every(({ bound }) => bound === 'politeness');
  if (busy !== undefined && !isPolite) return say('slots', busy);
  // The hosts would allow more, and the workers have free slots.
  const { oldestDueMs = 0 } = about;
  if (!isLocal && rate > 0 && takesLonger && oldestDueMs > OVERLOOKED_MS)
    return say(
      'services',
      `hosts that may be asked wait for ${duration(oldestDueMs)}, and workers have room: ${SERVICES_BUSY}`,
    );
  // A host in trouble has no ETA, and keeps none here.
  if (namesHost !== undefined) return namesHost.etaMs === undefined ? namesHost : { ...namesHost, etaMs: steadyMs };
  const crowded = hosts.find(({ intervalMs, waiting }) => intervalMs === 0 && waiting > progress.waiting / 2);
  if (crowded !== undefined && isPolite)
    return say('host', `waiting for ${crowded.host}: ${paceText(crowded)}; ${count(crowded.waiting)} left`);
  return say('none', '');
}

/** Returns the milliseconds that the workers would usually take for this many pages, if no host held them back. */
function usualMs(pages: number, workers: readonly LiveWorker[] = []): number {
  return (pages / (pagesPerSecondOfOne(workers) * Math.max(1, workers.length))) * SECOND_MS;
}

function waitsForUrls(run: string): string {
  return `waits for URLs, and ends once its producers are done or it is sealed: ${TRAWL} seal ${run}`;
}

function nobodyCrawls(resumeCommand: string): string {
  return `no process is crawling it: ${resumeCommand}`;
}

/**
 * Are tasks stuck in RabbitMQ: more of them are in flight than are normally on their way, while no worker has anything to do? A slow crawl
 * releases only a page or two of a host at a time, and workers report what they have in hand only every few seconds.
 */
function isUndelivered({ progress, hosts, workers, resumeCommand }: Circumstances): boolean {
  if (resumeCommand !== undefined || workers === undefined) return false;
  return progress.inFlight > 2 * Math.max(1, hosts.length) && haveNothingToDo(workers, elapsedMs(progress));
}

/** Returns each worker's bound. */
function boundsOf({ workers = [], ownBound }: Circumstances): readonly Pick<LiveWorker, 'id' | 'bound'>[] {
  return ownBound === undefined ? workers : [{ id: ONE_PROCESS, bound: ownBound }];
}

/** Returns a sentence if all slots are busy. */
function busySlots({ workers, ownBound }: Circumstances, isLocal: boolean): string | undefined {
  const [slots, inHand] = [sum(workers, 'slots'), sum(workers, 'inHand')];
  const isBusy = ownBound === 'slots' || (slots > 0 && inHand >= 0.9 * slots);
  if (!isBusy) return undefined;
  return isLocal
    ? `all slots of ${ONE_PROCESS} are busy (--worker-concurrency)`
    : `all ${slots} worker slots are busy: more workers help`;
}

interface NeedyHost extends HostLine {
  readonly needsMs: number;
}

/**
 * Returns the milliseconds until a host's waiting tasks are done, by its pause and pace, or until the host is given up. A host that is
 * being tried right now needs at least 1 ms.
 */
export function needsMs(line: HostLine, now: number): number {
  const { pausedMs, isUnreachable, waiting, intervalMs, trouble } = line;
  const givenUpInMs = troubleText(line, now) === undefined ? 0 : (trouble?.giveUpAt ?? now) - now;
  return Math.max(givenUpInMs, Math.max(pausedMs, isUnreachable ? 1 : 0) + waiting * intervalMs);
}

function slowestHost(hosts: readonly HostLine[], now: number): NeedyHost | undefined {
  return hosts
    .map((line) => ({ ...line, needsMs: needsMs(line, now) }))
    .reduce<NeedyHost | undefined>(
      (slowest, line) => (line.needsMs > (slowest?.needsMs ?? 0) ? line : slowest),
      undefined,
    );
}

/** Names a run's lost producers, and says what to do. */
export function lostProducers({ run, producers: { lost, silent } }: RunProgress): string {
  const named = silent.map(({ id, silentMs }) => `${id}, silent for ${duration(silentMs)}`);
  const others = lost > silent.length ? ` and ${count(lost - silent.length)} more` : '';
  const again = silent.every(({ id }) => id === REPLAYER) ? `${TRAWL} dlq replay` : `${TRAWL} produce --run ${run} …`;
  return `producer lost: ${named.join('; ')}${others}; run it again with ${again}, or ${TRAWL} seal ${run}`;
}

/** Says when the first of the silent hosts will be given up, if that is known. */
function giveUpOfAll({ hosts, progress }: Circumstances): string {
  const known = hosts.flatMap(({ trouble }) => (trouble?.kind === 'outage' ? [trouble.giveUpAt ?? []].flat() : []));
  return known.length === 0 ? '' : `; ${giveUpText({ kind: 'outage', giveUpAt: Math.min(...known) }, progress.readAt)}`;
}

function hostBottleneck(line: NeedyHost, now: number, isLocal: boolean): Bottleneck {
  const { host, waiting, pausedMs, reason, byHand, isUnreachable, because, responseMs = 0, needsMs } = line;
  if (byHand) {
    const paused = pauseText({ ms: pausedMs, reason, byHand });
    return {
      name: 'host paused',
      sentence: `waiting for ${host}: ${paused}; ${resumeHostCommand(host, isLocal)}`,
      etaMs: undefined,
    };
  }
  const trouble = troubleText(line, now);
  if (trouble !== undefined)
    return { name: 'host unreachable', sentence: `waiting for ${host}: ${trouble}`, etaMs: undefined };
  if (isUnreachable) {
    const next = pausedMs > 0 ? `next try in ${duration(pausedMs)}` : 'being tried';
    const why = reason === '' ? '' : ` (${reason})`;
    return {
      name: 'host unreachable',
      sentence: `waiting for ${host}: host unreachable: ${next}${why}`,
      etaMs: undefined,
    };
  }
  if (pausedMs > LONG_PAUSE_MS) {
    const why = reason === '' ? '' : ` (${reason})`;
    return {
      name: 'host paused',
      sentence: `waiting for ${host}: paused for ${duration(pausedMs)}${why}`,
      etaMs: needsMs,
    };
  }
  const left = `${count(waiting)} left, about ${duration(needsMs)}`;
  const [why, mend] =
    because === 'answers'
      ? [`its answers take ${duration(responseMs)}`, '']
      : [paceText(line), because === 'rate' ? ' (--rate)' : ''];
  return {
    name: 'host',
    sentence: `waiting for ${host}: ${why}; ${left}; more workers won't help${mend}`,
    etaMs: needsMs,
  };
}

/** The command that ends a host's pause by hand. */
export function resumeHostCommand(host: string, isLocal: boolean): string {
  return `${TRAWL} resume --host ${quoted(host)}${isLocal ? ' --local' : ''}`;
}

function sum(workers: readonly LiveWorker[] | undefined, field: 'slots' | 'inHand'): number {
  return workers?.reduce((total, worker) => total + worker[field], 0) ?? 0;
}
