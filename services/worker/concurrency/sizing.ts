import type { Fetcher } from '../../../shared/ports/fetcher.ts';
import { openFileLimit } from '../../../shared/runtime/limits.ts';
import { Concurrency, LOOK_EVERY_MS, type ProcessLoad } from './concurrency.ts';
import { LoadMeter } from './load-meter.ts';
import type { PendingRecords } from './pending-records.ts';
import { Slots } from './slots.ts';

interface SizingOptions {
  readonly wanted: number | 'auto';
  /** Default: measures this process. */
  readonly meter?: Meter | undefined;
  readonly fetcher: Pick<Fetcher, 'mostAtOnce' | 'waitingForMemory'>;
  readonly records: Pick<PendingRecords, 'longestMs'>;
  /** Called when the number of slots has doubled since the last call, or since the start. */
  readonly onDoubled: () => void;
}

/** Measures the load of the process. */
export interface Meter {
  start(): void;
  stop(): void;
  read(): ProcessLoad;
}

/** Keeps the number of slots at the size that {@link Concurrency} chooses, while it runs. */
export class Sizing {
  readonly slots: Slots;
  readonly #options: SizingOptions;
  readonly #concurrency: Concurrency;
  readonly #meter: Meter;
  #timer: NodeJS.Timeout | undefined;
  #toldOf: number;

  constructor(options: SizingOptions) {
    this.#options = options;
    this.#concurrency = new Concurrency({
      wanted: options.wanted,
      most: options.fetcher.mostAtOnce,
      openFiles: openFileLimit(),
    });
    this.#meter = options.meter ?? new LoadMeter();
    this.#toldOf = this.#concurrency.size;
    this.slots = new Slots(this.#concurrency.size);
  }

  get bound(): Concurrency['bound'] {
    return this.#concurrency.bound;
  }

  start(): void {
    this.#meter.start();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#meter.stop();
  }

  #look(): void {
    const { slots } = this;
    const { fetcher, records } = this.#options;
    const load = {
      ...this.#meter.read(),
      isFull: slots.takeShortage(),
      isCrowded: slots.isCrowded,
      waitingForMemory: fetcher.waitingForMemory,
      storingMs: records.longestMs,
    };
    this.#concurrency.look(load, performance.now());
    const { size } = this.#concurrency;
    if (size !== slots.total) slots.resize(size);
    if (size < 2 * this.#toldOf) return;
    this.#toldOf = size;
    this.#options.onDoubled();
  }
}
