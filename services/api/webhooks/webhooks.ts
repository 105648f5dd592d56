import { randomUUID } from 'node:crypto';
import type { Fetcher } from '../../../shared/ports/fetcher.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { messageOf, UnavailableError } from '../../../shared/runtime/errors.ts';
import type { Service } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Settings } from '../../../shared/settings/table.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../shared/task/durations.ts';
import { partsOf } from '../../../shared/task/parts.ts';
import { Problem } from '../http/problem.ts';
import type { Link } from '../link.ts';
import { deliver } from './delivery.ts';
import { type Hook, readHook, receiverOf } from './hook.ts';
import type { HookFile, KeptHook } from './hook-file.ts';
import { redeliveryMs } from './redelivery.ts';

interface WebhooksOptions {
  readonly file: HookFile;
  readonly link: Link;
  readonly fetcher: () => Promise<Fetcher>;
  /** Private addresses that are allowed as receivers. */
  readonly allowedPrivate: Settings['privateHosts'];
  /** Called after each delivery. */
  readonly onSent?: (result: 'delivered' | 'failed') => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Time between two checks for ended runs. */
const LOOK_EVERY_MS = SECOND_MS;
/** How long a webhook is remembered after it was delivered or given up. */
const KEPT_MS = 7 * DAY_MS;
/** Time after which a run that the store doesn't know is lost. Until then the store might be restored. */
const LOST_AFTER_MS = HOUR_MS;
const MOST_HOOKS = 10_000;
/** Runs checked at once, and deliveries under way at once. */
const AT_ONCE = 32;
/** Deliveries under way to one receiver. A receiver that hangs leaves places for the others. */
const AT_ONCE_TO_ONE = 4;

/** A webhook as the API shows it, without its secret. */
type HookStanding = Pick<KeptHook, 'id' | 'state' | 'attempts'>;

/**
 * Notifies receivers when runs end (Standard Webhooks): at least once, always with the same id. It polls the store, so it doesn't matter
 * which process ends a run. The receiver's address passes the address guard at each delivery.
 */
export class Webhooks implements Service {
  readonly #options: WebhooksOptions;
  readonly #stopped = new AbortController();
  /** Deliveries under way. */
  readonly #inHand = new Map<KeptHook, Promise<void>>();
  #hooks: KeptHook[] = [];
  #loop: Promise<void> = Promise.resolve();
  #lastSave: Promise<unknown> = Promise.resolve();
  /** The next save, not begun yet. It includes every change made before it begins. */
  #nextSave: Promise<void> | undefined;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#hooks = await this.#options.file.read();
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    await Promise.all(this.#inHand.values());
  }

  /**
   * Checks a webhook before its run is opened.
   *
   * @throws Problem if its URL can't be a receiver, or too many webhooks are waiting
   */
  check(hook: Hook): Hook {
    if (this.#hooks.filter(({ endedAt }) => endedAt === null).length >= MOST_HOOKS)
      throw new Problem('too_many_requests', `${MOST_HOOKS} webhooks are waiting`, { retryAfterMs: 60_000 });
    return readHook(hook, this.#options.allowedPrivate);
  }

  /** Adds a webhook in place of the run's earlier one. Resolves once it is stored. */
  async add(run: string, { url, secret }: Hook): Promise<void> {
    const id = `msg_${randomUUID().replaceAll('-', '')}`;
    const hook: KeptHook = { id, run, url, secret, state: 'waiting', attempts: [], nextAt: 0, endedAt: null };
    const others = this.#hooks.filter((each) => each.run !== run);
    // The oldest that are over make room.
    const over = others.filter(({ endedAt }) => endedAt !== null).slice(0, Math.max(0, others.length + 1 - MOST_HOOKS));
    this.#hooks = [...others.filter((each) => !over.includes(each)), hook];
    await this.#save();
  }

  /** Returns the webhook of a run, or nothing if it has none. */
  find(run: string): HookStanding | undefined {
    const hook = this.#hooks.find((each) => each.run === run);
    return hook && { id: hook.id, state: hook.state, attempts: hook.attempts };
  }

  /**
   * Delivers a run's webhook again, with the same id. Returns nothing if the run has none.
   *
   * @throws Problem if the run has not ended
   */
  async replay(run: string): Promise<HookStanding | undefined> {
    const hook = this.#hooks.find((each) => each.run === run);
    if (hook === undefined) return undefined;
    if (hook.state === 'waiting') throw new Problem('wrong_state', `run ${run} has not ended`);
    Object.assign(hook, { state: 'delivering', nextAt: 0, attempts: [], endedAt: null });
    await this.#save();
    return this.find(run);
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#look().catch((error: unknown) => this.#noteFailure(error));
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  async #look(): Promise<void> {
    await this.#findEnded();
    this.#deliverDue();
    const now = this.#options.clock.now();
    const kept = this.#hooks.filter(({ endedAt }) => endedAt === null || now - endedAt < KEPT_MS);
    if (kept.length === this.#hooks.length) return;
    this.#hooks = kept;
    await this.#save();
  }

  async #findEnded(): Promise<void> {
    const waiting = this.#hooks.filter(({ state }) => state === 'waiting');
    if (waiting.length === 0) return;
    // One query for all of them: most runs are still open at most checks.
    const open = new Set(await this.#options.link.withStores(({ runs }) => runs.listOpen(MOST_HOOKS)));
    for (const hook of waiting) if (open.has(hook.run)) hook.lostAt = undefined;
    const others = waiting.filter(({ run }) => !open.has(run));
    for (const some of partsOf(others, AT_ONCE)) await Promise.all(some.map((hook) => this.#findEnd(hook)));
    if (waiting.some(({ state }) => state !== 'waiting')) await this.#save();
  }

  async #findEnd(hook: KeptHook): Promise<void> {
    const { link, clock } = this.#options;
    const standing = await link.withStores(({ runs }) => runs.standing(hook.run));
    if (standing !== undefined) {
      hook.lostAt = undefined;
      if (standing.hasEnded) hook.state = 'delivering';
      return;
    }
    hook.lostAt ??= clock.now();
    if (clock.now() - hook.lostAt >= LOST_AFTER_MS) this.#lose(hook);
  }

  /** Begins deliveries that are due, while there are places. */
  #deliverDue(): void {
    const now = this.#options.clock.now();
    const inHandTo = new Map<string, number>();
    const take = (hook: KeptHook): boolean => {
      const receiver = receiverOf(hook);
      const taken = inHandTo.get(receiver) ?? 0;
      if (taken < AT_ONCE_TO_ONE) inHandTo.set(receiver, taken + 1);
      return taken < AT_ONCE_TO_ONE;
    };
    for (const hook of this.#inHand.keys()) take(hook);
    for (const hook of this.#hooks) {
      if (this.#inHand.size >= AT_ONCE || this.#stopped.signal.aborted) return;
      const isDue = hook.state === 'delivering' && hook.nextAt <= now && !this.#inHand.has(hook);
      if (isDue && take(hook)) this.#begin(hook);
    }
  }

  #begin(hook: KeptHook): void {
    const delivered = this.#deliver(hook)
      .then(() => true)
      .catch((error: unknown) => this.#noteFailure(error))
      .then((isOver) => {
        this.#inHand.delete(hook);
        // A delivery that failed because the store is away waits for the next check.
        if (isOver === true) this.#deliverDue();
      });
    this.#inHand.set(hook, delivered);
  }

  async #deliver(hook: KeptHook): Promise<void> {
    const { link, clock, log, fetcher } = this.#options;
    const { signal } = this.#stopped;
    const progress = await link.withStores(({ runs }) => runs.progress(hook.run));
    if (progress === undefined) this.#lose(hook);
    else {
      const { status, error } = await deliver(hook, progress, { fetcher, clock, signal });
      // The delivery was cut off because this process ends: the next process repeats it.
      if (error !== null && signal.aborted) return;

      this.#options.onSent?.(error === null ? 'delivered' : 'failed');
      hook.attempts.push({ at: new Date(clock.now()).toISOString(), status, error });
      if (error !== null) log.warn({ run: hook.run, error }, 'a webhook was not delivered:');
      // 410: the receiver is gone for good.
      const delay = error === null || status === 410 ? undefined : redeliveryMs(hook.attempts.length, Math.random);
      if (delay === undefined) this.#end(hook, error === null ? 'delivered' : 'failed');
      else hook.nextAt = clock.now() + delay;
    }
    await this.#save();
  }

  /** Gives up a webhook whose run the store has lost: there is nothing to report. */
  #lose(hook: KeptHook): void {
    const at = new Date(this.#options.clock.now()).toISOString();
    hook.attempts.push({ at, status: null, error: 'the store no longer knows the run' });
    this.#end(hook, 'failed');
  }

  #end(hook: KeptHook, state: 'delivered' | 'failed'): void {
    Object.assign(hook, { state, endedAt: this.#options.clock.now() });
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof UnavailableError))
      this.#options.log.warn({ error: messageOf(error) }, 'webhooks are delayed:');
  }

  /** Resolves once all changes so far are stored. Each save writes all webhooks, so changes made while one is written share the next. */
  #save(): Promise<void> {
    this.#nextSave ??= this.#lastSave.then(() => {
      this.#nextSave = undefined;
      const saving = this.#options.file.write(this.#hooks);
      this.#lastSave = saving.catch(() => {});
      return saving;
    });
    return this.#nextSave;
  }
}
