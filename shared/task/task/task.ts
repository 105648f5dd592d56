import { taskIdOf } from '../url/fingerprint.ts';
import type { FieldsOfTask } from './fields.ts';
import type { Queue } from './routing.ts';

/** One URL to fetch for one step of one run. Its other fields are in `fields.ts`; how it is written, in `form.ts`. */
export interface Task extends FieldsOfTask {
  readonly run: string;
  /** What is fetched: the URL as it was written, serialised, without credentials. */
  readonly url: string;
  /** The politeness key; see {@link CrawlUrl.host}. */
  readonly host: string;
  /** Its entry in the dedup set: what the URL is compared by, with the step in front when it isn't the first. */
  readonly mark: string;
  /** A step of the run's crawler; `''` is the first. */
  readonly step: string;
  readonly queue: Queue;
}

/** The URL that is asked next for a task. */
export function nextUrlOf({ url, redirects }: Pick<Task, 'url' | 'redirects'>): string {
  return redirects?.at(-1) ?? url;
}

/** The id of a task: `<run>:<fingerprint>`. */
export function idOf(task: Pick<Task, 'run' | 'mark'>): string {
  return taskIdOf(task.run, task.mark);
}

/**
 * The run that the id of a message names; nothing if it names none. The id may be from another program, and not hold a
 * run id.
 */
export function runNamedBy(id = ''): string | undefined {
  return id.slice(0, Math.max(0, id.lastIndexOf(':'))) || undefined;
}

/** A run id: it is part of Redis keys, file names and URLs. */
export const RUN_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;
