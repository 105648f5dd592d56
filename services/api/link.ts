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

/** A fleet's stores, or a machine's, which can do more. */
export type LinkedStores = Stores & Partial<Pick<LocalStores, 'finishCancelled' | 'letters' | 'isBeingCrawled'>>;

/** Hears of the store's outages. */
export interface StoreEvents {
  lost?(): void;
  /** It may have come back without its last second. */
  restored?(): void;
}

/** How an action uses what it is linked to. */
export interface HowLinked {
  /** It makes many calls, each of which is answered soon: it may take as long as it needs, while its service is there. */
  readonly takesLong?: boolean;
}

/** What the API looks at and steers. It may be away, and comes back by itself. */
export interface Link extends Service {
  readonly isLocal: boolean;
  /** Rejects with an UnavailableError at once while the store is away or answers nothing, when it goes away, and when it hasn't answered in time. */
  withStores<T>(action: (stores: LinkedStores) => Promise<T>, how?: HowLinked): Promise<T>;
  /** The same for dead letters: one caller at a time. */
  withLetters<T>(action: (letters: DeadLetters) => Promise<T>, how?: HowLinked): Promise<T>;
  /** What is in the broker's queues; nothing where there is no broker. */
  depths(): Promise<QueueDepths | undefined>;
  /** What is away, in words. */
  readonly away: readonly string[];
  readonly isStoreAway: boolean;
  /** Tells of the store's outages from now on. Returns what ends it. */
  watchStore(events: StoreEvents): () => void;
}

/** An answer that takes longer is none. */
const ANSWER_MS = 20 * SECOND_MS;

interface LinkOptions {
  readonly settings: Settings;
  readonly log: Logger;
}

/** The link to RabbitMQ and Redis. It is ready at once: both are connected to in the background, for ever. */
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

  /** In words; nothing if it is there. */
  #whyAway(service: string): string | undefined {
    const isConnected = service === 'Redis' ? this.#stores !== undefined : this.#inspector !== undefined;
    if (!isConnected || this.#away.get(service)?.signal.aborted !== false) return `${service} is away`;
    return service === 'Redis' && this.#silent.signal.aborted ? 'Redis does not answer' : undefined;
  }

  async #whileUp<S, T>(
    service: string,
    connected: S | undefined,
    action: (connected: S) => Promise<T>,
    { takesLong = false }: HowLinked = {},
  ): Promise<T> {
    const lost = this.#away.get(service)?.signal;
    const why = this.#whyAway(service);
    if (connected === undefined || lost === undefined || why !== undefined) throw new UnavailableError(why);
    const silent = service === 'Redis' ? this.#silent.signal : undefined;
    return await whileThere(action(connected), { service, lost, silent, withinMs: takesLong ? undefined : ANSWER_MS });
  }
}

/** The link to the crawls of this machine. */
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
