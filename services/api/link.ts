import { connectInspector, connectStores, type OpenInspector, type Stores } from '../../shared/backends/backends.ts';
import { type LocalStores, openLocalStores } from '../../shared/backends/embedded.ts';
import type { DeadLetters, QueueDepths } from '../../shared/ports/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { InterruptedError, messageOf, UnavailableError } from '../../shared/runtime/errors.ts';
import type { Service } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import { Outages } from '../process/outages.ts';
import { whileThere } from './while-there.ts';

/** The stores of a fleet, or those of local crawls, which can do more. */
export type LinkedStores = Stores & Partial<Pick<LocalStores, 'finishCancelled' | 'letters' | 'isBeingCrawled'>>;

/** Callbacks for outages of the store. */
export interface StoreEvents {
  lost?(): void;
  /** The store is back. It may have lost its last second of writes. */
  restored?(): void;
}

/** How an action uses a link. */
export interface HowLinked {
  /** The action makes many calls, each answered soon: it has no time limit as long as the service is reachable. */
  readonly takesLong?: boolean;
  /** The message of the error if the action takes longer than {@link ANSWER_MS}. Default: the service did not answer in time. */
  readonly late?: string;
}

/** The API's access to a fleet or to the crawls of this machine. It reconnects by itself after an outage. */
export interface Link extends Service {
  readonly isLocal: boolean;
  /**
   * Runs an action on the stores. Rejects with an UnavailableError: at once if the store is unreachable or silent, else as soon as it
   * becomes so, or when it hasn't answered in time.
   */
  withStores<T>(action: (stores: LinkedStores) => Promise<T>, how?: HowLinked): Promise<T>;
  /** Runs an action on the dead letters, with the failures of `withStores`. One caller at a time. */
  withLetters<T>(action: (letters: DeadLetters) => Promise<T>, how?: HowLinked): Promise<T>;
  /** Returns the depths of the broker's queues, or nothing for local crawls, which have no broker. */
  depths(): Promise<QueueDepths | undefined>;
  /** A sentence for each service that is unreachable or silent. */
  readonly away: readonly string[];
  readonly isStoreAway: boolean;
  /** Reports the store's outages from now on. Returns a function that ends this. */
  watchStore(events: StoreEvents): () => void;
}

/** Time after which an answer is given up. */
export const ANSWER_MS = 20 * SECOND_MS;

interface LinkOptions {
  readonly settings: Settings;
  readonly log: Logger;
}

/** The link to RabbitMQ and Redis. Its `start` doesn't wait: it connects in the background and tries for ever. */
export class FleetLink implements Link {
  readonly isLocal = false;
  readonly #options: LinkOptions;
  readonly #closed = new AbortController();
  readonly #away = new Map<string, AbortController>();
  /** Aborted while Redis answers nothing. */
  #silent = new AbortController();
  readonly #watching = new Set<StoreEvents>();
  #stores: Stores | undefined;
  #inspector: OpenInspector | undefined;
  #connecting: Promise<unknown> = Promise.resolve();

  constructor(options: LinkOptions) {
    this.#options = options;
    for (const service of ['Redis', 'RabbitMQ']) this.#away.set(service, new AbortController());
  }

  get away(): readonly string[] {
    return [...this.#away.keys()].flatMap((service) => this.#whyAway(service) ?? []);
  }

  get isStoreAway(): boolean {
    return this.#whyAway('Redis') !== undefined;
  }

  async start(): Promise<void> {
    const { settings, log } = this.#options;
    const outages = new Outages(log, systemClock);
    const events = {
      lost: (service: 'Redis' | 'RabbitMQ', reason: string) => {
        outages.lost(service, reason);
        this.#away.get(service)?.abort();
        if (service === 'Redis') for (const { lost } of [...this.#watching]) lost?.();
      },
      restored: (service: 'Redis' | 'RabbitMQ') => {
        outages.restored(service);
        this.#away.set(service, new AbortController());
        if (service !== 'Redis') return;
        this.#silent = new AbortController();
        for (const { restored } of [...this.#watching]) restored?.();
      },
      silent: () => this.#silent.abort(),
      answering: () => {
        this.#silent = new AbortController();
      },
    };
    const attempts = Number.POSITIVE_INFINITY;
    const { signal } = this.#closed;
    const connect = { settings, log, events, attempts, name: 'trawl api', signal, waitsForWrites: true };
    const failed = (error: unknown): void => {
      if (!(error instanceof InterruptedError)) log.error({ error: messageOf(error) }, 'could not connect:');
    };
    this.#connecting = Promise.all([
      connectStores(connect).then((stores) => {
        this.#stores = stores;
      }, failed),
      connectInspector(connect).then((inspector) => {
        this.#inspector = inspector;
      }, failed),
    ]);
  }

  async stop(): Promise<void> {
    this.#closed.abort();
    await this.#connecting;
    this.#stores?.close();
    await this.#inspector?.stop();
  }

  withStores<T>(action: (stores: LinkedStores) => Promise<T>, how?: HowLinked): Promise<T> {
    return this.#whileUp('Redis', this.#stores, action, how);
  }

  withLetters<T>(action: (letters: DeadLetters) => Promise<T>, how?: HowLinked): Promise<T> {
    return this.#whileUp('RabbitMQ', this.#inspector, action, how);
  }

  depths(): Promise<QueueDepths | undefined> {
    return this.#whileUp('RabbitMQ', this.#inspector, (inspector) => inspector.depths());
  }

  watchStore(events: StoreEvents): () => void {
    this.#watching.add(events);
    return () => void this.#watching.delete(events);
  }

  /** Returns why a service is unavailable, or nothing if it is available. */
  #whyAway(service: string): string | undefined {
    const isConnected = service === 'Redis' ? this.#stores !== undefined : this.#inspector !== undefined;
    if (!isConnected || this.#away.get(service)?.signal.aborted !== false) return `${service} is away`;
    return service === 'Redis' && this.#silent.signal.aborted ? 'Redis does not answer' : undefined;
  }

  async #whileUp<S, T>(
    service: string,
    connected: S | undefined,
    action: (connected: S) => Promise<T>,
    { takesLong = false, late }: HowLinked = {},
  ): Promise<T> {
    const lost = this.#away.get(service)?.signal;
    const why = this.#whyAway(service);
    if (connected === undefined || lost === undefined || why !== undefined) throw new UnavailableError(why);
    const silent = service === 'Redis' ? this.#silent.signal : undefined;
    const withinMs = takesLong ? undefined : ANSWER_MS;
    return await whileThere(action(connected), { service, lost, silent, withinMs, late });
  }
}

/** The link to the crawls of this machine, whose store is a file. */
export class LocalLink implements Link {
  readonly isLocal = true;
  readonly away = [];
  readonly isStoreAway = false;
  readonly #settings: Settings;
  #stores: LocalStores | undefined;

  constructor({ settings }: Pick<LinkOptions, 'settings'>) {
    this.#settings = settings;
  }

  async start(): Promise<void> {
    this.#stores = await openLocalStores(this.#settings);
  }

  async stop(): Promise<void> {
    this.#stores?.close();
    this.#stores = undefined;
  }

  withStores<T>(action: (stores: LinkedStores) => Promise<T>): Promise<T> {
    return this.#with(action);
  }

  withLetters<T>(action: (letters: DeadLetters) => Promise<T>): Promise<T> {
    return this.#with((stores) => action(stores.letters));
  }

  async depths(): Promise<undefined> {
    return undefined;
  }

  /** A file is never away. */
  watchStore(): () => void {
    return () => {};
  }

  async #with<T>(action: (stores: LocalStores) => Promise<T>): Promise<T> {
    if (this.#stores === undefined) throw new UnavailableError('the local store is closed');
    return await action(this.#stores);
  }
}
