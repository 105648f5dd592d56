import type { Forgettable, Forgotten, Marks } from '../../ports/marks.ts';
import { QUEUES } from '../../task/task/routing.ts';
import { hostOfMark } from '../../task/url/fingerprint.ts';
import type { MemoryRun, MemoryStore } from './store.ts';

/** The marks of one process. */
export class MemoryMarks implements Marks {
  readonly #store: MemoryStore;

  constructor({ store }: { readonly store: MemoryStore }) {
    this.#store = store;
  }

  async ofRun(id: string, marks: readonly string[]): Promise<readonly boolean[]> {
    const run = this.#store.runs.get(id);
    return marks.map((mark) => run !== undefined && (run.seen.has(mark) || run.failedMarks.has(mark)));
  }

  async forget(which: Forgettable): Promise<Forgotten> {
    const open = this.#store.listOpenRuns();
    const total = { forgotten: 0, kept: 0 };
    this.#store.recrawl.forget((mark) => isMeant(mark, which));
    const forgetIn = (marks: Set<string>, sharers: readonly MemoryRun[]): void => {
      const live = new Set(sharers.flatMap((run) => [...liveMarks(run)]));
      for (const mark of marks) {
        if (!isMeant(mark, which)) continue;
        if (live.has(mark)) total.kept++;
        else if (marks.delete(mark)) total.forgotten++;
      }
    };
    forgetIn(
      this.#store.crawledUrls,
      open.filter(({ options }) => options.dedup === 'ever'),
    );
    for (const run of this.#store.runs.values()) {
      forgetIn(run.seen, open.includes(run) ? [run] : []);
      forgetIn(run.failedMarks, []);
    }
    return total;
  }
}

function isMeant(mark: string, which: Forgettable): boolean {
  if (which === 'all') return true;
  return 'mark' in which ? mark === which.mark : hostOfMark(mark) === which.host;
}

function* liveMarks(run: MemoryRun): Generator<string> {
  for (const { task } of run.flights.values()) yield task.mark;
  for (const lists of run.lists.values())
    for (const queue of QUEUES) for (const { mark } of lists[queue].values()) yield mark;
  for (const { mark } of run.retries.values()) yield mark;
}
