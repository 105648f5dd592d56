import type { AttemptNote, Offer, ReleasedTask, ReleaseVerdict, TaskState } from '../../frontier.ts';
import { FIRST_STEP, keyOfMark, malformedMarkOf } from '../../task/fingerprint.ts';
import type { Queue } from '../../task/routing.ts';
import { MALFORMED_HOST } from '../policy.ts';

/** What a task is beyond its mark; left out where the mark says it. */
interface Payload {
  /** The URL as it was written, when it is compared by another form. */
  readonly u?: string;
  /** Depth, when it isn't 0. */
  readonly d?: number;
  /** The folder in which its links are followed, if there is one. */
  readonly w?: string;
  /** Why a malformed text is no URL. */
  readonly m?: string;
}

/** One argument of `offer.lua`: `<host> <queue> <deadline in ms or 0>[ <changed at>]` TAB mark TAB payload. */
export function writeOffer(offer: Offer): string {
  if ('malformed' in offer) {
    const payload: Payload = { m: offer.problem };
    return `${MALFORMED_HOST} normal 0\t${malformedMarkOf(offer.malformed)}\t${JSON.stringify(payload)}`;
  }
  const key = keyOfMark(offer.mark, offer.step);
  let payload = '';
  if (offer.url !== key || offer.depth > 0) {
    const { url, depth, within } = offer;
    payload = JSON.stringify({
      ...(url === key ? {} : { u: url }),
      ...(depth > 0 ? { d: depth } : {}),
      ...(within === undefined ? {} : { w: within }),
    });
  }
  const changed = (offer.changedAt ?? 0) > 0 ? ` ${offer.changedAt}` : '';
  return `${offer.host} ${offer.queue} ${offer.deadlineMs ?? 0}${changed}\t${offer.mark}\t${payload}`;
}

/** Reads one entry of `release.lua`'s answer. */
export function readReleased(entry: string): ReleasedTask {
  const [head = '', mark = '', payloadText = '', redirects = ''] = entry.split('\t');
  const [verdict, release, run, host, queue, attempts, starts, throttles, deadline, firstSeen] = head.split(' ');
  const payload: Payload = payloadText === '' ? {} : JSON.parse(payloadText);
  const space = host === MALFORMED_HOST ? -1 : mark.indexOf(' ');
  const step = space < 0 ? FIRST_STEP : mark.slice(0, space);
  return {
    verdict: verdict as ReleaseVerdict,
    release: Number(release),
    task: {
      run: run ?? '',
      url: payload.u ?? mark.slice(space + 1),
      host: host ?? '',
      mark,
      step,
      depth: payload.d ?? 0,
      queue: queue as Queue,
      ...(payload.w === undefined ? {} : { within: payload.w }),
      ...(redirects === '' ? {} : { redirects: JSON.parse(redirects) }),
    },
    state: stateOf(attempts, starts, throttles, deadline, firstSeen),
    ...(payload.m === undefined ? {} : { problem: payload.m }),
  };
}

/** Reads the five numbers that go before every task. */
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
