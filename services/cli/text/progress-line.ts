import { Presets, SingleBar } from 'cli-progress';
import type { Bottleneck } from '../../../shared/control/bottleneck.ts';
import { count, duration, perSecond } from '../../../shared/control/format.ts';
import type { RunView } from '../../../shared/control/run-watcher.ts';
import { printable } from '../../../shared/runtime/printable.ts';

/** Is a progress line drawn? Not for a pipe, a file or `--json`. */
export function isWatched(json: boolean): boolean {
  return process.stderr.isTTY === true && !json;
}

const NO_WRAP = '\u001b[?7l';

/** Between two drawings. */
export const DRAW_EVERY_MS = 200;

/** One line on a terminal that tells how far a run is: pages done of known, pages a second, what it waits for, and eta. */
export class ProgressLine {
  readonly #bar: SingleBar;
  #isDrawn = false;

  constructor() {
    this.#bar = new SingleBar(
      {
        format: '{bar} {done}/{known} pages  {speed}/s  {note}',
        barsize: 24,
        hideCursor: true,
        clearOnComplete: true,
        stream: process.stderr,
        linewrap: false,
      },
      Presets.shades_classic,
    );
    // A line of the log has turned it on, for itself.
    this.#bar.on('redraw-pre', () => process.stderr.write(NO_WRAP));
  }

  /** `reading` is what the producer is at, if it is still at it. */
  show({ progress, bottleneck, rate }: RunView, reading?: string): void {
    const { done, skipped, failed, cancelled, discovered } = progress;
    const ended = done + skipped + failed + cancelled;
    const fields = {
      done: count(ended),
      known: count(discovered),
      speed: perSecond(rate),
      note: noteOf(bottleneck, reading),
    };
    if (!this.#isDrawn) {
      this.#bar.start(Math.max(1, discovered), ended, fields);
      this.#isDrawn = true;
    }
    this.#bar.setTotal(Math.max(1, discovered));
    this.#bar.update(ended, fields);
  }

  clear(): void {
    if (this.#isDrawn) this.#bar.stop();
    this.#isDrawn = false;
  }
}

/** What stands behind the numbers: what the producer is at, or what the run waits for and how long. Printable. */
export function noteOf({ name, sentence, etaMs }: Bottleneck, reading?: string): string {
  const eta = etaMs === undefined || name === 'host' ? '' : `eta ${duration(etaMs)}`;
  const parts = [reading ?? sentence, reading === undefined ? eta : ''];
  return printable(parts.filter((part) => part !== '').join('; '));
}
