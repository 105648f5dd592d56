import { type GroupInputs, MAX_GROUP_BYTES, MOST_MISSING } from '../../ports/frontier/groups.ts';
import type { RunOptions } from '../../ports/runs.ts';
import { groupOf, groupOfMark, joinMark } from '../../task/group/group.ts';
import { joinTaskOf, ownerText } from '../../task/group/join-task.ts';
import { isTaken, isTakenInGroup, type JoinPlan } from '../../task/group/plan.ts';
import type { TaskOffer } from '../../task/task/offer.ts';
import type { TaskRequest } from '../../task/task/request.ts';
import type { Task } from '../../task/task/task.ts';
import { FIRST_STEP } from '../../task/url/fingerprint.ts';
import type { AuthorsWork } from '../around/middleware-calls.ts';
import type { Extract } from '../document/reading.ts';
import { StepError } from '../failures/step-error.ts';
import { FILE_STEP } from '../file-step.ts';
import { itemsIn, recordItems } from '../items/record-items.ts';
import { groupMaterial, missingInput, TOO_LARGE, writeInput } from '../joins/group-material.ts';
import { type GroupMaterial, JoinRun, type RunMaterial } from '../joins/join-run.ts';
import type { MissingInput } from '../joins/joins.ts';
import { type DoneTasks, doneCounts, runMaterial } from '../joins/run-material.ts';
import { leadsOf, sortLead } from '../leads/leads.ts';
import type { Page } from '../page.ts';
import { callUntimed, workSaved } from './read-page.ts';

/** A link that a step follows, or a file that it downloads, whose step is `download`. */
export interface TestedLink {
  /** The step it leads to; empty for a crawler of one function. */
  readonly step: string;
  readonly url: string;
  /** The request, if it isn't a plain GET: `method`, `body` as text, and `headers`. */
  readonly request?: TaskRequest;
  readonly kept?: Readonly<Record<string, unknown>>;
}

/** The result of a crawler for saved pages. */
export interface TestedRun {
  /** The items that each step and join emitted, by its name; an empty list if there are none. */
  readonly items: Readonly<Record<string, readonly unknown[]>>;
  /** Number of `done` tasks of each step and join. */
  readonly counts: Readonly<Record<string, number>>;
  /** Pages that didn't end as `done`. A page that isn't saved is among them: it fails as if the answer were a 404. */
  readonly missing: readonly MissingInput[];
  /** Links that are not followed because of scope, pattern, depth or condition. */
  readonly leftOut: readonly TestedLink[];
}

/** The name of the run. */
const RUN = 'test';
/** The options of a run without flags. */
const DEFAULTS: Omit<RunOptions, 'crawler'> = {
  dedup: 'run',
  intervalMs: 0,
  maxAttempts: 1,
  follow: false,
  maxDepth: 0,
  hasDefaultDepth: true,
  content: 'none',
  incremental: false,
  recrawlAfterMs: 0,
};

/** An owner, and the results of its group. */
interface Group {
  readonly id: string;
  readonly owner: Task;
  isDone: boolean;
  bytes: number;
  readonly inputs: Record<string, string>;
  readonly missing: GroupInputs['firstMissing'][number][];
}

/** A row as a sink would store it. */
interface Row {
  readonly outcome: 'done';
  readonly step: string;
  readonly insteadOf?: string;
  readonly data: unknown;
  readonly items: number;
}

/** The items of a join, in the form of a record. */
type Made = Pick<Row, 'data' | 'items'>;

/**
 * A crawl over saved pages, in memory. The same functions as in a worker decide which pages it takes, what belongs to a group and what joins
 * get. Nothing is fetched, waits or is tried again.
 */
export class SavedRun {
  readonly #work: AuthorsWork;
  readonly #pageAt: (task: Task) => Page;
  readonly #options: RunOptions;
  readonly #plan: JoinPlan | undefined;
  readonly #queue: Task[] = [];
  readonly #seen = new Set<string>();
  readonly #groups = new Map<string, Group>();
  readonly #rows: Row[] = [];
  /** Number of `done` tasks by step and join, with the keys that the stores count by. */
  readonly #done: Record<string, number> = {};
  readonly #missing: MissingInput[] = [];
  readonly #leftOut: TestedLink[] = [];

  /** @param pageAt returns the page of a task */
  constructor(work: AuthorsWork, pageAt: (task: Task) => Page) {
    const { crawler } = work;
    this.#work = work;
    this.#pageAt = pageAt;
    this.#plan = crawler.joinPlan;
    this.#options = {
      ...DEFAULTS,
      crawler: crawler.name,
      ...(this.#plan === undefined ? {} : { joins: this.#plan }),
    };
  }

  /** Crawls from the seeds to the last join. @throws StepError if a step or a join fails */
  async crawl(seeds: readonly TaskOffer[]): Promise<TestedRun> {
    const { crawler } = this.#work;
    for (const seed of seeds) this.#offer(seed);
    for (let task = this.#queue.shift(); task !== undefined; task = this.#queue.shift()) await this.#visit(task);
    for (const group of this.#groups.values()) if (group.isDone) await this.#endGroup(group);
    for (const name of this.#plan?.run.flat() ?? []) await this.#join(name, 'the run', this.#runMaterial());
    const names = [...crawler.steps, ...crawler.joins].map(({ name }) => name);
    const itemsOf = (name: string): readonly unknown[] =>
      this.#rows.filter(({ step }) => step === name).flatMap(itemsIn);
    return {
      items: Object.fromEntries(names.map((name) => [name, itemsOf(name)])),
      counts: doneCounts(crawler, this.#doneTasks()),
      missing: this.#missing,
      leftOut: this.#leftOut,
    };
  }

  #offer(offer: TaskOffer): void {
    if (offer.step === FILE_STEP.key || this.#seen.has(offer.mark)) return;
    this.#seen.add(offer.mark);
    this.#queue.push({ ...offer, run: RUN });
  }

  async #visit(task: Task): Promise<void> {
    const group = this.#groupOf(task);
    const came = await told(task.url, workSaved(this.#work, this.#pageAt(task)));
    if (came.kind !== 'done') {
      const missing = { mark: task.mark, outcome: came.kind, reason: came.reason };
      this.#missing.push(missingInput(missing, task.url, this.#work.crawler));
      group?.missing.push(missing);
      return;
    }
    const { page, extract } = came;
    if (group?.owner === task) group.isDone = true;
    if (group !== undefined && isTaken(this.#plan, task)) take(group, task.mark, writeInput(task, extract));
    this.#keep(task.step, extract.by?.name ?? task.step, extract);
    await this.#follow(task, page, extract);
  }

  async #follow(task: Task, page: Page, extract: Extract): Promise<void> {
    const { crawler } = this.#work;
    const source = { task, logins: task.logins, run: { crawler, options: this.#options } };
    for (const { step, links, kept, request } of extract.unmet) {
      const about = { ...(request === undefined ? {} : { request }), ...(kept === undefined ? {} : { kept }) };
      this.#leftOut.push(...links.map((url) => ({ step: step.name, url, ...about })));
    }
    for (const lead of leadsOf(source, page, extract).leads) {
      const { offers, tooDeep, outOfScope } = await sortLead(lead, source, page, { rules: [] });
      const { step: key = '', kept, request } = lead.about ?? {};
      const about = {
        step: crawler.step(key)?.name ?? key,
        ...(request === undefined ? {} : { request }),
        ...(kept === undefined ? {} : { kept }),
      };
      this.#leftOut.push(...[...tooDeep, ...outOfScope].map((url) => ({ url, ...about })));
      for (const offer of offers) this.#offer(offer);
    }
  }

  /** Returns the group that a task owns or belongs to. */
  #groupOf(task: Task): Group | undefined {
    const member = groupOfMark(task.mark);
    if (member !== undefined) return this.#groups.get(member);
    if (this.#plan?.groups[task.step] === undefined) return undefined;
    const id = groupOf(task.mark);
    const group: Group = { id, owner: task, isDone: false, bytes: 0, inputs: {}, missing: [] };
    this.#groups.set(id, group);
    return group;
  }

  async #endGroup(group: Group): Promise<void> {
    const { crawler } = this.#work;
    const layers = this.#plan?.groups[group.owner.step]?.layers ?? [];
    for (const name of layers.flat()) {
      const planned = this.#plan?.joins[name];
      const place = { run: RUN, queue: group.owner.queue, mark: joinMark(name, group.id) };
      const task = joinTaskOf(ownerText(group.owner), place);
      if (planned === undefined || task === undefined || this.#plan === undefined)
        throw new Error(`the plan has no join ${name}`);
      if (group.bytes > MAX_GROUP_BYTES) throw new Error(`join ${name} (${group.owner.url}): ${TOO_LARGE}`);
      const material = groupMaterial(task, inputsOf(group), planned, crawler);
      const made = await this.#join(name, group.owner.url, material);
      if (isTakenInGroup(this.#plan, name)) take(group, task.mark, writeInput(task, made));
    }
  }

  /** Calls a join. @param of the owner's URL or `the run`, for messages */
  async #join(name: string, of: string, material: GroupMaterial | RunMaterial): Promise<Made> {
    const { crawler, args } = this.#work;
    const join = crawler.join(name);
    if (join === undefined) throw new Error(`crawler ${crawler.name} has no join ${name}`);
    const call = new JoinRun(crawler, join, args, material);
    const about = { crawler: crawler.name, step: name, isJoin: true };
    const items = await told(
      of,
      callUntimed(
        about,
        () => call.begin(),
        (result) => call.end(result),
      ),
    );
    const made = recordItems(items);
    this.#keep(name, name, made);
    return made;
  }

  /** Stores a result. @param key the one that the stores count it by */
  #keep(key: string, step: string, { data, items = 1 }: Pick<Extract, 'data' | 'items'>): void {
    this.#done[key] = (this.#done[key] ?? 0) + 1;
    const own = this.#work.crawler.step(key)?.name ?? step;
    this.#rows.push({ outcome: 'done', step, ...(own === step ? {} : { insteadOf: own }), data, items });
  }

  #runMaterial(): RunMaterial {
    const rows = [...this.#rows];
    async function* read() {
      yield* rows;
    }
    return runMaterial(this.#work.crawler, this.#doneTasks(), async () => ({ read, close: async () => {} }));
  }

  #doneTasks(): DoneTasks {
    const { [FIRST_STEP]: first = 0, ...named } = this.#done;
    const counted = Object.entries(named).map(([key, done]) => [key, { done }] as const);
    const done = Object.values(named).reduce((sum, each) => sum + each, first);
    return { run: RUN, done, steps: Object.fromEntries(counted) };
  }
}

function take(group: Group, mark: string, input: ReturnType<typeof writeInput>): void {
  if (typeof input !== 'string') throw input;
  group.bytes += Buffer.byteLength(input);
  group.inputs[mark] = input;
}

function inputsOf({ inputs, missing }: Group): GroupInputs {
  const outcomes: Record<string, number> = {};
  for (const { outcome } of missing) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return { inputs, isTooLarge: false, missing: outcomes, firstMissing: missing.slice(0, MOST_MISSING) };
}

/** Adds the page, or the owner, to an error from a crawler's function. */
async function told<T>(url: string, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error: unknown) {
    if (!(error instanceof StepError)) throw error;
    throw new Error(`${error.message} (${url})`, { cause: error });
  }
}
