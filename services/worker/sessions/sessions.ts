import { LRUCache } from 'lru-cache';
import { CookieJar } from '../../../shared/cookies/cookie-jar.ts';
import { masked } from '../../../shared/crawler/around/secrets.ts';
import { COMMON_SESSION, LOGIN_FAILED, type NamedSession, ttlMsOf } from '../../../shared/crawler/around/session.ts';
import { StepError, stepErrorOf } from '../../../shared/crawler/failures/step-error.ts';
import { Page } from '../../../shared/crawler/page.ts';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import type { Runs } from '../../../shared/ports/runs.ts';
import { messageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { MINUTE_MS, SECOND_MS } from '../../../shared/task/durations.ts';
import { idOf } from '../../../shared/task/task/task.ts';
import { verdictOf } from '../../../shared/task/task/verdict.ts';
import type { Calls } from '../pipeline/around-fetch.ts';
import { type Robots, robotsFor } from '../pipeline/hosts/robots.ts';
import type { OpenSession, Visit } from '../pipeline/visit.ts';
import { LoginRequests, type LoginRequestsOptions } from './login-requests.ts';

export interface SessionsOptions extends LoginRequestsOptions {
  /** If left out, the rules of robots.txt are ignored. */
  readonly robots?: Robots | undefined;
  readonly runs: Pick<Runs, 'pause' | 'standing'>;
  readonly steps: Calls;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The session of a run, or the time to wait before asking for it again. */
export type Entered = { readonly session: OpenSession } | { readonly laterMs: number };

/** Logins tried before the run is paused, and the waits between them. */
const TRIES = 3;
const TRY_AGAIN_MS = [SECOND_MS, 5 * SECOND_MS] as const;
/** Time limit of a login, including its waits for hosts. */
const LOGIN_TIMEOUT_MS = 5 * MINUTE_MS;
/** Longest wait of a page for a login in its worker slot. A slower login puts the page back. */
const MAX_WAIT_MS = 250;
const LOGIN_WAITS_MS = 1_000;
/** Time for which the pages of a run wait that was paused by its login. */
const PAUSED_WAITS_MS = 2_000;
/** Maximum characters of a login's error, which becomes the reason of the run's pause. */
const MAX_PROBLEM_LENGTH = 500;
/** Maximum sessions remembered, and maximum tasks that met an ended session. */
const MOST_SESSIONS = 1_000;
const MOST_EXPIRED = 10_000;

/** A session of one run in this worker. */
interface Session {
  open: (OpenSession & { readonly since: number }) | undefined;
  /** The login in progress, shared by all pages that need it. */
  pending: Promise<void> | undefined;
  /** Whether its logins failed and the run was paused. */
  hasGivenUp: boolean;
  logins: number;
}

/**
 * The sessions of this worker's runs. A run has one for each session name of its crawler.
 *
 * | state      | a page of the run                              | becomes                                                             |
 * |------------|------------------------------------------------|---------------------------------------------------------------------|
 * | none       | begins the login                               | logging in                                                          |
 * | logging in | waits, then is put back; this costs no attempt | open; or given up after {@link TRIES} failures, with the run paused |
 * | open       | is fetched with its cookies                    | none, after its time or when an answer shows that it has ended      |
 * | given up   | is put back while the run is paused            | none, when the run has been resumed                                 |
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #requests: LoginRequests;
  readonly #sessions = new LRUCache<string, Session>({ max: MOST_SESSIONS });
  readonly #expired = new LRUCache<string, true>({ max: MOST_EXPIRED });

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#requests = new LoginRequests(options);
  }

  /** Returns the session for a visit's requests; logs in first if there is none. */
  async enter(visit: Visit): Promise<Entered> {
    const definition = visit.run.crawler.sessionOf(visit.task);
    if (definition === undefined)
      throw new Error(`crawler ${visit.run.crawler.name} has no session for ${visit.task.url}`);
    const { clock, runs } = this.#options;
    const session = this.#of(visit);
    const { open } = session;
    if (open !== undefined && clock.now() - open.since < ttlMsOf(definition)) return { session: open };
    if (session.hasGivenUp && session.pending === undefined) {
      const standing = await runs.standing(visit.task.run);
      if (standing?.state === 'paused') return { laterMs: PAUSED_WAITS_MS };
      session.hasGivenUp = false;
    }
    session.pending ??= this.#logIn(session, definition, visit).finally(() => {
      session.pending = undefined;
    });
    const waited = new AbortController();
    await Promise.race([session.pending, clock.sleep(MAX_WAIT_MS, waited.signal)]);
    waited.abort();
    if (session.open !== undefined && session.open !== open) return { session: session.open };
    return { laterMs: session.hasGivenUp ? PAUSED_WAITS_MS : LOGIN_WAITS_MS };
  }

  /** Returns whether an answer says that the visit's session has ended. @throws StepError */
  isExpired({ task, run }: Visit, fetched: FetchedPage): boolean {
    const { name = COMMON_SESSION, isExpired }: Partial<NamedSession> = run.crawler.sessionOf(task) ?? {};
    if (isExpired === undefined) return fetched.status === 401;
    try {
      return verdictOf(isExpired(new Page(task, fetched)), 'isExpired');
    } catch (error: unknown) {
      throw stepErrorOf({ crawler: run.options.crawler, part: `isExpired of ${sessionText(name)}` }, error);
    }
  }

  /** Ends a visit's session that has expired. Returns `false` if the task has met two expired sessions, so that another login won't help it. */
  renew(visit: Visit): boolean {
    const session = this.#of(visit);
    const id = idOf(visit.task);
    if (visit.session !== undefined && session.open?.number === visit.session.number) session.open = undefined;
    if (this.#expired.has(id)) {
      this.#expired.delete(id);
      return false;
    }
    this.#expired.set(id, true);
    return true;
  }

  #of({ task, run }: Visit): Session {
    const name = `${task.run} ${run.incarnation} ${run.crawler.sessionOf(task)?.name ?? COMMON_SESSION}`;
    let session = this.#sessions.get(name);
    if (session === undefined) {
      session = { open: undefined, pending: undefined, hasGivenUp: false, logins: 0 };
      this.#sessions.set(name, session);
    }
    return session;
  }

  /** Tries to log in, up to {@link TRIES} times, and pauses the run if no try succeeds. Never rejects. */
  async #logIn(session: Session, definition: NamedSession, visit: Visit): Promise<void> {
    const { log, clock, signal, runs } = this.#options;
    const { task, run } = visit;
    const { name } = definition;
    const about = { run: task.run, crawler: run.crawler.name, ...(name === COMMON_SESSION ? {} : { session: name }) };
    for (let tries = 1; !signal.aborted; tries++) {
      const problem = await this.#try(session, definition, visit);
      if (signal.aborted) return;
      if (problem === undefined) {
        log.info(about, 'logged in');
        return;
      }
      if (tries < TRIES) {
        log.warn({ ...about, tries, error: problem }, 'a login failed: it is tried again');
        await clock.sleep(TRY_AGAIN_MS[tries - 1] ?? 0, signal);
        continue;
      }
      session.open = undefined;
      try {
        await runs.pause(task.run, `${LOGIN_FAILED} ${TRIES} times: ${problem}`);
        session.hasGivenUp = true;
        log.error({ ...about, tries, error: problem }, 'logins failed: the run is paused');
      } catch (error: unknown) {
        log.error({ ...about, error: problem, pause: messageOf(error) }, "logins failed, and the run can't be paused");
      }
      return;
    }
  }

  /** Tries one login. Returns the problem if it failed. */
  async #try(session: Session, { name, login }: NamedSession, visit: Visit): Promise<string | undefined> {
    const { steps, signal, clock } = this.#options;
    const { task, run, worker } = visit;
    const { secrets = {} } = run;
    const jar = new CookieJar();
    const over = new AbortController();
    const at = {
      run: task.run,
      robots: robotsFor(this.#options.robots, run),
      intervalMs: run.options.intervalMs,
      jar,
      // Logins of two sessions at once have different names, so each gets its own place.
      holder: `${task.run}:login:${worker}${name === COMMON_SESSION ? '' : `:${name}`}`,
      signal: AbortSignal.any([signal, over.signal]),
    };
    const context = { ...this.#requests.of(at), secrets, args: (run.args ?? {}) as Readonly<Record<string, unknown>> };
    const how = {
      about: {
        crawler: run.options.crawler,
        part: name === COMMON_SESSION ? 'its login' : `its login ${name}`,
        tellsStatement: false,
      },
      url: task.url,
      timeoutMs: LOGIN_TIMEOUT_MS,
      limit: 'the limit of a login',
    };
    try {
      await steps.call(
        how,
        () => login(context),
        () => {},
      );
      session.open = { jar, number: ++session.logins, since: clock.now() };
      return undefined;
    } catch (error: unknown) {
      if (!(error instanceof StepError)) throw error;
      return masked(error.message, secrets).slice(0, MAX_PROBLEM_LENGTH);
    } finally {
      over.abort(new Error('the login has ended: await all its requests'));
    }
  }
}

function sessionText(name: string): string {
  return name === COMMON_SESSION ? 'its session' : `its session ${name}`;
}
