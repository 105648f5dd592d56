/**
 * URLs that seeds, or a page, gave before a crash and will give again, since their reading was not over: each is found
 * known once more without being a duplicate. 0 stands for the seeds, else it is the number of the page's task.
 */
export class Credits {
  readonly #marks = new Map<number, Set<string>>();

  grant(source: number, marks: readonly string[]): void {
    if (marks.length === 0) return;
    const own = this.#marks.get(source);
    if (own === undefined) this.#marks.set(source, new Set(marks));
    else for (const mark of marks) own.add(mark);
  }

  /** Uses up the credit for these marks. Returns for how many there was one. */
  use(source: number, marks: Iterable<string>): number {
    const own = this.#marks.get(source);
    if (own === undefined) return 0;
    let used = 0;
    for (const mark of marks) if (own.delete(mark)) used++;
    return used;
  }

  drop(source: number): void {
    this.#marks.delete(source);
  }
}
