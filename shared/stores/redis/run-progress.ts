import {
  byPages,
  type HostsDown,
  NO_STEP_COUNTS,
  PRODUCER_LEASE_MS,
  type RunProgress,
  type RunState,
  type SilentProducer,
  type StepCounts,
  type StepFailure,
} from '../../ports/runs.ts';
import type { HostTrouble, TroubleKind } from '../../task/host/host-trouble.ts';
import { partsOf } from '../../task/parts.ts';

/** The answer of `stores/redis/lua/runs/progress.lua`. */
export type ProgressReply = readonly (string | number | readonly string[])[];

/** Reads the answer of `progress.lua`. */
export function readProgress(run: string, reply: ProgressReply): RunProgress {
  const [readAt, inFlight, open, lost, silent, steps, places, ...pairs] = reply;
  const fields = new Map<string, string>();
  const named: HostsDown['named'][number][] = [];
  const reasons = { failed: {} as Record<string, number>, skipped: {} as Record<string, number> };
  for (const pair of partsOf(pairs, 2)) {
    const [name = '', value = ''] = pair.map(String);
    const [kind, reason] = name.split(':');
    if (reason !== undefined && (kind === 'failed' || kind === 'skipped')) reasons[kind][reason] = Number(value);
    else if (kind === 'down') named.push({ host: name.slice('down:'.length), ...readTrouble(value) });
    else fields.set(name, value);
  }
  const count = (name: string): number => Number(fields.get(name) ?? 0);
  const endedAt = fields.get('ended_at');
  const pauseReason = fields.get('pause_reason');
  return {
    run,
    incarnation: fields.get('incarnation') ?? '',
    state: fields.get('state') as RunState,
    options: JSON.parse(fields.get('options') ?? '{}'),
    sealed: count('completed') > 0 && Number(open) + Number(lost) === 0,
    discovered: count('discovered'),
    duplicate: count('duplicate'),
    waiting: count('waiting'),
    inFlight: Number(inFlight),
    done: count('done'),
    skipped: count('skipped'),
    failed: count('failed'),
    cancelled: count('cancelled'),
    leftOut: {
      depth: count('left_out:depth'),
      scope: count('left_out:scope'),
      maxPages: count('left_out:max_pages'),
      limit: count('left_out:limit'),
      condition: count('left_out:condition'),
    },
    reasons,
    hostsDown: { count: count('hosts_down'), named: named.sort((a, b) => (a.host < b.host ? -1 : 1)) },
    ...(fields.has('plan') ? { openGroups: count('open_groups') } : {}),
    ...readSteps(steps as string[]),
    ...readStepFailures(places as string[]),
    bytes: count('bytes'),
    bytesSaved: count('bytes_saved'),
    startedAt: count('started_at'),
    ...(endedAt === undefined ? {} : { endedAt: Number(endedAt) }),
    readAt: Number(readAt),
    producers: { open: Number(open), lost: Number(lost), silent: readSilent(silent as string[], Number(readAt)) },
    ...(pauseReason ? { pauseReason } : {}),
  };
}

function readTrouble(text: string): Pick<HostTrouble, 'kind' | 'reason'> {
  const [kind = '', ...words] = text.split(' ');
  return { kind: kind as TroubleKind, reason: words.join(' ') };
}

/** Reads pairs of `<state> <step>` and a number. */
function readSteps(pairs: readonly string[]): Pick<RunProgress, 'steps'> {
  const steps: Record<string, StepCounts> = {};
  for (const [name = '', count] of partsOf(pairs, 2)) {
    const [state = '', step = ''] = name.split(' ');
    steps[step] = { ...(steps[step] ?? NO_STEP_COUNTS), [state]: Number(count) };
  }
  return pairs.length === 0 ? {} : { steps };
}

/** Reads pairs of a place and `<pages> <first error>`. */
function readStepFailures(pairs: readonly string[]): Pick<RunProgress, 'stepFailures'> {
  const found: StepFailure[] = [];
  for (const [place = '', value = ''] of partsOf(pairs, 2)) {
    const space = value.indexOf(' ');
    found.push({ place, pages: Number(value.slice(0, space)), error: value.slice(space + 1) });
  }
  return found.length === 0 ? {} : { stepFailures: byPages(found) };
}

/** Reads pairs of a lost producer and the time until which it counted as alive. */
function readSilent(pairs: readonly string[], now: number): SilentProducer[] {
  return [...partsOf(pairs, 2)].map(([id = '', until]) => ({ id, silentMs: now - Number(until) + PRODUCER_LEASE_MS }));
}
