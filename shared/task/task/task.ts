import { taskIdOf } from '../url/fingerprint.ts';
import type { FieldsOfTask } from './fields.ts';
import type { Queue } from './routing.ts';

/** One URL to fetch for one step of one run. See `fields.ts` for its other fields, and `form.ts` for how it is written. */
export interface Task extends FieldsOfTask {
  readonly run: string;
  /** The URL to fetch: serialised as written, without credentials. */
  readonly url: string;
  /** The politeness key; see {@link CrawlUrl.host}. */
  readonly host: string;
  /** Its entry in the dedup set: the URL's key, preceded by the step if that isn't the first; see `fingerprint.ts`. */
  readonly mark: string;
  /** A step of the run's crawler; `''` is the first. */
  readonly step: string;
  readonly queue: Queue;
}

/** Returns the URL to request next for a task. */
export function nextUrlOf({ url, redirects }: Pick<Task, 'url' | 'redirects'>): string {
  return redirects?.at(-1) ?? url;
}

/** Makes the id of a task: `<run>:<fingerprint>`. */
export function idOf(task: Pick<Task, 'run' | 'mark'>): string {
  return taskIdOf(task.run, task.mark);
}

/**
 * Returns the run named in a message's id; nothing if it names none. The id may come from another program, so the result may not
 * be a valid run id.
 */
export function runNamedBy(id = ''): string | undefined {
  return id.slice(0, Math.max(0, id.lastIndexOf(':'))) || undefined;
}

/** Pattern of a run id. Run ids are part of Redis keys, file names and URLs. */
export const RUN_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;
