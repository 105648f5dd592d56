import type {
  AttemptNote,
  DamagedRun,
  Offer,
  ReleasedTask,
  ReleaseVerdict,
  TaskState,
} from '../../../ports/frontier/frontier.ts';
import { formOf, type TaskPlace } from '../../../task/task/form.ts';
import type { Queue } from '../../../task/task/routing.ts';
import { MALFORMED_HOST, malformedMarkOf } from '../../../task/url/fingerprint.ts';
import { readStored } from '../../stored-task.ts';

/*
 * How tasks are written in Redis; see `lua/shared/prelude.lua`. The scripts read only the parts they decide by, and leave the
 * form of a task as it is. A text that isn't a URL has no form: the reason stands in its place.
 */

/**
 * One argument of `offer.lua`, its parts separated by tabs: host, queue, deadline in ms or 0, changed at or '', domain or '',
 * what it is a replay of or '', mark, form.
 */
export function writeOffer(offer: Offer): string {
  if ('malformed' in offer)
    return `${MALFORMED_HOST}\tnormal\t0\t\t\t\t${malformedMarkOf(offer.malformed)}\t${offer.problem}`;
  const { host, queue, deadlineMs = 0, changedAt = 0, domain = '', replayOf = '', mark } = offer;
  const changed = changedAt > 0 ? changedAt : '';
  return `${host}\t${queue}\t${deadlineMs}\t${changed}\t${domain}\t${replayOf}\t${mark}\t${formOf(offer)}`;
}

/** Reads one entry of `release.lua`'s answer. One that can't be read counts as malformed, and holds up no other. */
export function readReleased(entry: string): ReleasedTask {
  const { head, mark, form } = partsOf(entry);
  const [verdict, release, run = '', host = '', queue, ...numbers] = head.split(' ');
  const place: TaskPlace = { run, host, queue: queue as Queue, mark };
  const stored = readStored(place, form);
  return {
    verdict: stored.problem === undefined ? (verdict as ReleaseVerdict) : 'malformed',
    release: Number(release),
    ...stored,
    state: stateOf(...numbers),
  };
}

/** Reads an entry of that answer that reports damaged data of a run; undefined if it is a task's. */
export function readDamaged(entry: string): DamagedRun | undefined {
  const [, run, why] = /^damaged (\S+) (.*)$/s.exec(entry) ?? [];
  return run === undefined || why === undefined ? undefined : { run, why };
}

/** Returns the mark of an entry, in whichever form it is kept. */
export function markOfEntry(entry: string): string {
  return partsOf(entry).mark;
}

/** Returns the words before the mark: the five numbers of a waiting task; other entries have more words before those. */
export function wordsOfEntry(entry: string): string[] {
  return partsOf(entry).head.split(' ');
}

/** Reads the five numbers of a task's state. */
export function stateOf(...numbers: (string | undefined)[]): TaskState {
  const [attempts = 0, starts = 0, throttles = 0, deadline = 0, firstSeen = 0] = numbers.map(Number);
  return { attempts, starts, throttles, firstSeen, ...(deadline > 0 ? { deadline } : {}) };
}

export function readNote(text: string): AttemptNote | undefined {
  try {
    return JSON.parse(text) as AttemptNote;
  } catch {
    return undefined;
  }
}

/** Splits an entry at its first two tabs, since the form may contain tabs as well. */
function partsOf(entry: string): { readonly head: string; readonly mark: string; readonly form: string } {
  const first = entry.indexOf('\t');
  const second = entry.indexOf('\t', first + 1);
  return { head: entry.slice(0, first), mark: entry.slice(first + 1, second), form: entry.slice(second + 1) };
}
