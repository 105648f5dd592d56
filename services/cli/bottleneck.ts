import type { LiveWorker } from '../../shared/roster.ts';
import type { HostLine, RunProgress } from '../../shared/runs.ts';
import { count, duration, pace } from './format.ts';

/** What keeps a run from going faster, and how long it will take by what is known. */
export interface Bottleneck {
  /** One word or two, for scripts. */
  readonly name:
    | 'none'
    | 'paused'
    | 'no workers'
    | 'workers waiting'
    | 'host'
    | 'host paused'
    | 'retries'
    | 'slots'
    | 'producer lost';
  /** For people; empty when nothing is in the way. */
  readonly sentence: string;
  readonly etaMs: number | undefined;
}

interface Circumstances {
  readonly progress: RunProgress;
  readonly hosts: readonly HostLine[];
  /** Empty when nobody works; left out where the one process is the worker. */
  readonly workers?: readonly LiveWorker[];
  /** Pages a second, lately. */
  readonly rate: number;
}

/** A host whose tail takes this much longer than the rest of the run is what the run waits for. */
const CLEARLY_LONGER = 1.5;

/** Names what a run waits for. */
export function bottleneckOf(about: Circumstances): Bottleneck {
  const { progress, hosts, workers, rate } = about;
  const left = progress.waiting + progress.inFlight;
  const steadyMs = rate > 0 ? (left / rate) * 1_000 : undefined;
  const say = (name: Bottleneck['name'], sentence: string, etaMs = steadyMs): Bottleneck => ({ name, sentence, etaMs });

  if (progress.endedAt !== undefined) return say('none', '', 0);
  if (progress.state === 'paused') return say('paused', 'paused', undefined);
  if (left === 0) {
    return progress.producers.lost > 0 && progress.producers.open === 0
      ? say('producer lost', `producer lost: run it again with --run ${progress.run}`, undefined)
      : say('none', '', undefined);
  }
  if (workers?.length === 0) return say('no workers', 'no worker is running: start one with trawl work', undefined);
  if (workers?.every(({ state }) => state !== 'consuming')) {
    return say('workers waiting', `workers are ${workers[0]?.state ?? 'gone'}`, undefined);
  }
  const slowest = slowestHost(hosts);
  if (slowest !== undefined && slowest.needsMs > CLEARLY_LONGER * (steadyMs ?? 0)) return hostBottleneck(slowest);
  if (hosts.length === 0 && progress.waiting > 0)
    return say('retries', `${count(progress.waiting)} wait for their next attempt`);
  if (slowest !== undefined && slowest.needsMs > 5_000) return hostBottleneck(slowest);
  const [slots, inHand] = [sum(workers, 'slots'), sum(workers, 'inHand')];
  if (slots > 0 && inHand >= 0.9 * slots) return say('slots', `all ${slots} worker slots are busy: more workers help`);
  return say('none', '');
}

interface NeedyHost extends HostLine {
  readonly needsMs: number;
}

function slowestHost(hosts: readonly HostLine[]): NeedyHost | undefined {
  return hosts
    .map((line) => ({ ...line, needsMs: line.pausedMs + line.waiting * line.intervalMs }))
    .reduce<NeedyHost | undefined>(
      (slowest, line) => (line.needsMs > (slowest?.needsMs ?? 0) ? line : slowest),
      undefined,
    );
}

function hostBottleneck({ host, waiting, intervalMs, pausedMs, reason, needsMs }: NeedyHost): Bottleneck {
  if (pausedMs > 2_000) {
    const why = reason === undefined ? '' : ` (${reason})`;
    return {
      name: 'host paused',
      sentence: `waiting for ${host}: paused for ${duration(pausedMs)}${why}`,
      etaMs: needsMs,
    };
  }
  const left = `${count(waiting)} left, about ${duration(needsMs)}`;
  return {
    name: 'host',
    sentence: `waiting for ${host}: ${pace(intervalMs)}; ${left}; more workers won't help (--rate)`,
    etaMs: needsMs,
  };
}

function sum(workers: readonly LiveWorker[] | undefined, field: 'slots' | 'inHand'): number {
  return workers?.reduce((total, worker) => total + worker[field], 0) ?? 0;
}
