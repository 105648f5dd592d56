import type { AttemptNote, Moved, Offer, ReleasedTask, ReleaseVerdict, TaskState } from '../../ports/frontier.ts';
import type { Queue } from '../../task/task/routing.ts';
import type { Task } from '../../task/task/task.ts';
import { FIRST_STEP, keyOfMark, malformedMarkOf } from '../../task/url/fingerprint.ts';
import { type Logins, loginFor, loginsField, withLogin } from '../../task/url/logins.ts';
import { MALFORMED_HOST } from '../policy.ts';

/** What a task is beyond its mark; left out where the mark says it. */
interface Payload {
  /** The URL as it was written, when it is compared by another form. */
  readonly u?: string | undefined;
  /** Depth, when it isn't 0. */
  readonly d?: number | undefined;
  /** The folder in which its links are followed, if there is one. */
  readonly w?: string | undefined;
  /** The credentials of the URL, if it had any. */
  readonly l?: string | undefined;
  /** Why a malformed text is no URL. */
  readonly m?: string | undefined;
}

/** One argument of `offer.lua`: `<host> <queue> <deadline in ms or 0>[ <changed at>][ ~<domain>]` TAB mark TAB payload. */
export function writeOffer(offer: Offer): string {
  if ('malformed' in offer) {
    const payload: Payload = { m: offer.problem };
    return `${MALFORMED_HOST} normal 0\t${malformedMarkOf(offer.malformed)}\t${JSON.stringify(payload)}`;
  }
  const key = keyOfMark(offer.mark, offer.step);
  let payload = '';
  if (offer.url !== key || offer.depth > 0) {
    const { url, depth, within } = offer;
    const login = loginFor(url, offer.logins);
    payload = JSON.stringify({
      ...(url === key ? {} : { u: url }),
      ...(depth > 0 ? { d: depth } : {}),
      ...(within === undefined ? {} : { w: within }),
      ...(login === undefined ? {} : { l: login }),
    });
  }
  const changed = (offer.changedAt ?? 0) > 0 ? ` ${offer.changedAt}` : '';
  const domain = offer.domain === undefined ? '' : ` ~${offer.domain}`;
  return `${offer.host} ${offer.queue} ${offer.deadlineMs ?? 0}${changed}${domain}\t${offer.mark}\t${payload}`;
}

/** Reads one entry of `release.lua`'s answer. One that can't be read is malformed: it keeps nothing else back. */
export function readReleased(entry: string): ReleasedTask {
  const [head = '', mark = '', payloadText = '', wayText = ''] = entry.split('\t');
  const [verdict, release, run, host, queue, attempts, starts, throttles, deadline, firstSeen] = head.split(' ');
  const payload = readPayload(payloadText);
  const way = readWay(wayText);
  const isReadable = payload !== undefined && way !== undefined;
  const { u, d = 0, w, l, m } = payload ?? {};
  const space = host === MALFORMED_HOST ? -1 : mark.indexOf(' ');
  const step = space < 0 ? FIRST_STEP : mark.slice(0, space);
  const url = u ?? mark.slice(space + 1);
  const problem = isReadable ? m : `what the frontier has of it can't be read: ${payloadText}`.slice(0, 300);
  return {
    verdict: isReadable ? (verdict as ReleaseVerdict) : 'malformed',
    release: Number(release),
    task: {
      run: run ?? '',
      url,
      host: host ?? '',
      mark,
      step,
      depth: d,
      queue: queue as Queue,
      ...(w === undefined ? {} : { within: w }),
      ...loginsField(withLogin(undefined, url, l)),
      ...way,
    },
    state: stateOf(attempts, starts, throttles, deadline, firstSeen),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Where redirects have led a task, as JSON: their URLs, and after them its logins, if it has any. */
export function writeWay({ redirects, logins }: Moved): string {
  return JSON.stringify(logins === undefined ? redirects : [...redirects, logins]);
}

/** Nothing if it is none. */
function readPayload(text: string): Payload | undefined {
  if (text === '') return {};
  const { u, d, w, l, m } = (parsed(text) ?? NO_PAYLOAD) as Record<keyof Payload, unknown>;
  const areTexts = [u, w, l, m].every((value) => value === undefined || typeof value === 'string');
  if (!areTexts || (d !== undefined && !Number.isSafeInteger(d))) return undefined;
  return { u, d, w, l, m } as Payload;
}

/** Nothing if it is none. */
function readWay(text: string): Pick<Task, 'redirects' | 'logins'> | undefined {
  if (text === '') return {};
  const list = parsed(text);
  if (!Array.isArray(list)) return undefined;
  const logins = list.length > 0 && typeof list.at(-1) !== 'string' ? list.at(-1) : undefined;
  const redirects = logins === undefined ? list : list.slice(0, -1);
  if (!redirects.every((url) => typeof url === 'string') || !(logins === undefined || areLogins(logins)))
    return undefined;
  return { ...(redirects.length === 0 ? {} : { redirects }), ...loginsField(logins) };
}

function areLogins(value: unknown): value is Logins {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every((login) => typeof login === 'string')
  );
}

const NO_PAYLOAD = { u: null };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
