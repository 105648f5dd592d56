import { duration } from '../../../shared/control/format.ts';
import type { RunView } from '../../../shared/control/run-watcher.ts';
import { say } from './output.ts';
import { progressSentence } from './progress-text.ts';
import type { Teller } from './teller.ts';

const EVERY_MS = 30_000;

/** Reports a run's progress where no terminal is watched: a sentence at the start, and one every 30 s. */
export class ProgressSentences implements Teller {
  readonly everyMs = EVERY_MS;
  #isFirst = true;

  show(view: RunView, reading?: string): void {
    const { run, endedAt } = view.progress;
    if (this.#isFirst) say(`Run ${run} is under way; progress every ${duration(EVERY_MS)} (--quiet for none)`);
    else if (endedAt === undefined) say(progressSentence(view, reading));
    this.#isFirst = false;
  }

  clear(): void {}
}
