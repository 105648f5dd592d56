import { z } from 'zod';
import { JOIN_HOST, joinMark } from '../group/group.ts';
import { markOf } from '../url/fingerprint.ts';
import { keyWithLogin, loginFor, loginsField, withLogin } from '../url/logins.ts';
import { isProblem, readUrl, withoutCredentials, withoutCredentialsIn } from '../url/url.ts';
import { MESSAGE_VERSION, writtenTask, writtenTaskSchema } from './form.ts';
import { digestOf, isSecret } from './request.ts';
import type { Task } from './task.ts';

/** Maximum bytes of a message's body. */
export const MAX_BODY_BYTES = 262_144;

const BODY = new TextDecoder();

/** The result of reading a message's body. */
export type ReadMessage =
  /** A task. It has no run if another program wrote it without one. */
  | { readonly kind: 'task'; readonly task: Omit<Task, 'run'> & { readonly run: string | undefined } }
  /** Written by a newer version of this program. Not malformed, but left to workers of that version. */
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'malformed'; readonly problem: string };

/** Writes the body of a message: the task as versioned JSON, so that any AMQP client can read it. */
export function writeMessage(task: Task): string {
  return JSON.stringify(writtenTask(task));
}

/** Reads the body of a message, written by {@link writeMessage} or another AMQP client. */
export function readMessage(body: Uint8Array): ReadMessage {
  if (body.byteLength > MAX_BODY_BYTES)
    return { kind: 'malformed', problem: `the body has ${body.byteLength} bytes, more than ${MAX_BODY_BYTES}` };
  let json: unknown;
  try {
    json = JSON.parse(BODY.decode(body));
  } catch {
    return { kind: 'malformed', problem: 'the body is not JSON' };
  }
  const version = versionOf(json);
  if (version > MESSAGE_VERSION) return { kind: 'newer', version };
  const parsed = writtenTaskSchema.safeParse(json);
  if (!parsed.success) return { kind: 'malformed', problem: z.prettifyError(parsed.error).replaceAll('\n', ' ') };
  const { v: _, run, url: written, key, step, queue, redirects, logins: given, group, ...fields } = parsed.data;
  if (fields.join !== undefined) {
    const logins = given === undefined ? {} : { logins: given };
    const task = { url: written, step, queue, ...fields, ...logins, host: JOIN_HOST };
    return { kind: 'task', task: { ...task, run, mark: joinMark(step, fields.join.group) } };
  }
  const url = readUrl(written);
  if (isProblem(url)) return { kind: 'malformed', problem: `the URL can't be crawled: ${url.problem}` };
  let logins = withLogin(given, url.href, url.login);
  const own = key ?? keyWithLogin(url.canonical, loginFor(url.href, logins));
  const mark = markOf(own, step, digestOf(fields.request), group);
  const task = { run, url: url.href, host: url.host, mark, step, queue, ...fields };
  if (redirects === undefined) return { kind: 'task', task: { ...task, ...loginsField(logins) } };
  const next = readUrl(redirects.at(-1) ?? '');
  if (isProblem(next)) {
    return { kind: 'malformed', problem: `the URL it was redirected to can't be crawled: ${next.problem}` };
  }
  const hops = redirects.map((hop) => {
    const read = readUrl(hop);
    if (isProblem(read)) return withoutCredentials(hop);
    logins = withLogin(logins, read.href, read.login);
    return read.href;
  });
  return { kind: 'task', task: { ...task, host: next.host, redirects: hops, ...loginsField(logins) } };
}

/** Returns the text of a message that isn't a task, fit to be shown: without the credentials that were meant for a task. */
export function shownMessage(text: string): string {
  if (!/"(?:logins|cookies|headers)"/.test(text)) return withoutCredentialsIn(text);
  try {
    return withoutCredentialsIn(JSON.stringify(JSON.parse(text), shownField));
  } catch {
    return withoutCredentialsIn(text);
  }
}

/** Hides the value of a field that holds credentials. @param name name of the field, at any depth */
function shownField(name: string, value: unknown): unknown {
  if (name === 'logins' || name === 'cookies') return undefined;
  return typeof value === 'string' && isSecret(name.toLowerCase()) ? '…' : value;
}

function versionOf(json: unknown): number {
  const version = typeof json === 'object' && json !== null && 'v' in json ? json.v : undefined;
  return typeof version === 'number' && Number.isInteger(version) ? version : 0;
}
