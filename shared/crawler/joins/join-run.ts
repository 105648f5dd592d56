import type { Crawler } from '../crawler.ts';
import { CrawlerFault } from '../failures/crawler-fault.ts';
import { ProblemError } from '../failures/step-error.ts';
import { itemAsJson } from '../items/item.ts';
import { issueText, judged, keptBy } from '../step-run.ts';
import type { Join, JoinInput, JoinOwner, MissingInputs } from './joins.ts';

/** The material of a join per owner. */
export interface GroupMaterial {
  readonly owner: JoinOwner;
  /** The key of the owner's step. */
  readonly per: string | undefined;
  readonly inputs: readonly JoinInput[];
  readonly missing: MissingInputs;
}

/** The material of a run join. */
export interface RunMaterial {
  readonly counts: Readonly<Record<string, number>>;
  readonly records: (of: string) => AsyncIterable<unknown>;
}

/** One call of a join. Collects the items it emits; emitting after the join has ended is an error. */
export class JoinRun {
  readonly #crawler: Crawler;
  readonly #join: Join;
  readonly #args: unknown;
  readonly #material: GroupMaterial | RunMaterial;
  readonly #items: unknown[] = [];
  #isOver = false;
  /** The first refusal. The join fails even if it catches the error. */
  #fault: Error | undefined;

  constructor(crawler: Crawler, join: Join, args: unknown, material: GroupMaterial | RunMaterial) {
    this.#crawler = crawler;
    this.#join = join;
    this.#args = args;
    this.#material = material;
  }

  /** Calls the join's function. */
  begin(): unknown {
    const speech = { args: this.#args, emit: (item: unknown) => this.#emit(item) };
    const context = { ...speech, ...this.#about() };
    return (this.#join.run as (about: typeof context) => unknown)(context);
  }

  /** Returns the join's items, once its function has ended. Throws the first refusal, if there was one. */
  end(returned: unknown): readonly unknown[] {
    this.#isOver = true;
    if (this.#fault !== undefined) throw this.#fault;
    if (returned !== undefined) throw new ProblemError('expected a join to return nothing: emit what is to be kept');
    return this.#items;
  }

  #about(): object {
    if (!('owner' in this.#material)) {
      const { counts, records } = this.#material;
      return { counts, records: (of: string) => this.#faultsOf(records(of)) };
    }
    const { owner, per, inputs, missing } = this.#material;
    const keeps = per === undefined ? undefined : this.#crawler.step(per)?.keeps;
    const kept = keeps === undefined ? owner.kept : keptBy(keeps, owner.kept, `the owner of join ${this.#join.name}`);
    return { inputs, missing, owner: { ...owner, kept } };
  }

  async *#faultsOf(rows: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    try {
      yield* rows;
    } catch (error: unknown) {
      if (error instanceof Error) this.#fault ??= error;
      throw error;
    }
  }

  #emit(item: unknown): void {
    try {
      this.#items.push(this.#checked(item));
    } catch (error: unknown) {
      if (error instanceof CrawlerFault) this.#fault ??= error;
      throw error;
    }
  }

  #checked(item: unknown): unknown {
    const { record, name } = this.#join;
    if (this.#isOver) throw new CrawlerFault(`join ${name} has ended: await all its asynchronous work`);
    if (item === undefined || typeof item === 'function' || Array.isArray(item))
      throw new CrawlerFault(`emits ${Array.isArray(item) ? 'a list: emit each of its items' : typeof item}`);
    if (record === undefined) return itemAsJson(item);
    const read = judged(record, item);
    if (!read.success) throw new CrawlerFault(`an item: ${issueText(read.error, item)}`, 'schema');
    return itemAsJson(read.data);
  }
}
