import { readdirSync, readFileSync } from 'node:fs';
import { Figures } from '../figures.ts';

const MIB = 2 ** 20;
const PAGE_BYTES = 4_096;

/** Repeated samples of the memory and open files of one process, from `/proc` (Linux only). */
export class Samples {
  readonly #pid: number;
  readonly #rssMib: number[] = [];
  readonly #handles: number[] = [];

  constructor(pid: number) {
    this.#pid = pid;
  }

  take(): void {
    const [, pages] = readFileSync(`/proc/${this.#pid}/statm`, 'utf8').split(' ');
    this.#rssMib.push((Number(pages) * PAGE_BYTES) / MIB);
  }

  /** Counts the open files. Call it at rest: under load they come and go with connections to the site. */
  rest(): void {
    this.#handles.push(readdirSync(`/proc/${this.#pid}/fd`).length);
  }

  get handlesAtRest(): readonly [first: number, last: number] {
    return [this.#handles[0] ?? 0, this.#handles.at(-1) ?? 0];
  }

  /** Median memory in each third of the samples. */
  thirds(): readonly [first: number, middle: number, last: number] {
    const third = Math.floor(this.#rssMib.length / 3);
    const median = (from: number): number => new Figures(this.#rssMib.slice(from, from + third)).median;
    return [median(0), median(third), median(2 * third)];
  }
}
