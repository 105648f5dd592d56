import { Presets, SingleBar } from 'cli-progress';
import { count, duration, perSecond } from './format.ts';
import type { RunView } from './run-watcher.ts';

/** Is there somebody to draw for? A pipe, a file and `--json` get none. */
export function isWatched(json: boolean): boolean {
  return process.stderr.isTTY === true && !json;
}

const NO_WRAP = '\u001b[?7l';

/** Between two drawings. */
export const DRAW_EVERY_MS = 200;

/** One line on a terminal that tells how far a run is: pages done of known, pages a second, what it waits for, and eta. */
export class ProgressLine {
  readonly #bar: SingleBar | undefined;
  #isDrawn = false;

  constructor(watched: boolean) {
    if (!watched) return;
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
    if (this.#bar === undefined) return;
    const { done, skipped, failed, cancelled, discovered } = progress;
    const ended = done + skipped + failed + cancelled;
    const eta = bottleneck.etaMs === undefined || bottleneck.name === 'host' ? '' : `eta ${duration(bottleneck.etaMs)}`;
    const note = [reading ?? bottleneck.sentence, reading === undefined ? eta : '']
      .filter((part) => part !== '')
      .join('; ');
    const fields = { done: count(ended), known: count(discovered), speed: perSecond(rate), note };
    if (!this.#isDrawn) {
      this.#bar.start(Math.max(1, discovered), ended, fields);
      this.#isDrawn = true;
    }
    this.#bar.setTotal(Math.max(1, discovered));
    this.#bar.update(ended, fields);
  }

  clear(): void {
    if (this.#isDrawn) this.#bar?.stop();
    this.#isDrawn = false;
  }
}
