import type { CookieJar } from '../../../shared/cookies/cookie-jar.ts';
import type { LoginContext } from '../../../shared/crawler/around/session.ts';
import { type FollowedRequest, requestOf } from '../../../shared/crawler/followed-request.ts';
import { submissionOf } from '../../../shared/crawler/forms/form.ts';
import { Page } from '../../../shared/crawler/page.ts';
import { SlotWait } from '../../../shared/loops/slot-wait.ts';
import { FetchError, type FetchedPage, type Fetcher, PageHold } from '../../../shared/ports/fetcher.ts';
import type { HostGate } from '../../../shared/ports/host-gate.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { throttlePauseMs } from '../../../shared/task/host/host-pace.ts';
import { retryAfterMs } from '../../../shared/task/host/retry-after.ts';
import { INITIAL_FIELDS } from '../../../shared/task/task/form.ts';
import { afterRedirect, sentTo, type TaskRequest } from '../../../shared/task/task/request.ts';
import type { Task } from '../../../shared/task/task/task.ts';
import { loginFor, withLogin } from '../../../shared/task/url/logins.ts';
import { redirectOf } from '../../../shared/task/url/redirect.ts';
import { isProblem, readUrl, withoutCredentials } from '../../../shared/task/url/url.ts';
import type { Candidate, Robots } from '../pipeline/hosts/robots.ts';

export interface LoginRequestsOptions {
  readonly gate: HostGate;
  readonly fetcher: Fetcher;
  readonly maxBodyBytes: number;
  readonly maxRedirects: number;
  readonly hostConcurrency: number;
  readonly clock: Clock;
}

/** The login that makes the requests. */
export interface LoginAt {
  readonly run: string;
  /** If undefined, robots.txt is ignored. */
  readonly robots: Robots | undefined;
  /** Minimum time between the run's requests to a host, in milliseconds. */
  readonly intervalMs: number;
  readonly jar: CookieJar;
  /** Its name at the gate. */
  readonly holder: string;
  /** Aborted when the login is over. */
  readonly signal: AbortSignal;
}

/** Lowest status that counts as a failure, as does 429: a login that doesn't check would mistake such an answer for its page. */
const FIRST_FAILURE = 500;
const TOO_MANY = 429;

/**
 * The requests of logins. Each obeys robots.txt, waits for its host's turn however long that takes, passes the address guard, and shares
 * the session's cookies. Redirects are followed in the same way.
 */
export class LoginRequests {
  readonly #options: LoginRequestsOptions;
  readonly #slots: SlotWait;

  constructor(options: LoginRequestsOptions) {
    this.#options = options;
    this.#slots = new SlotWait(options);
  }

  /** Returns the functions that a login gets. */
  of(at: LoginAt): Pick<LoginContext, 'get' | 'post' | 'submit'> {
    const send = (request: FollowedRequest): Promise<Page> => this.#send(request, at);
    return {
      get: (url, how = {}) => send({ ...how, url }),
      post: (url, body, how = {}) => send({ ...how, url, method: 'POST', body }),
      submit: async (page, given, { form } = {}) => {
        const request = submissionOf(page, given, form);
        if (request === undefined)
          throw new Error(`there is no form${form === undefined ? '' : ` ${form}`} at ${page.url}`);
        return await send({ ...request, headers: { ...request.headers, ...refererOf(page.url, request.url) } });
      },
    };
  }

  async #send(written: FollowedRequest, at: LoginAt): Promise<Page> {
    const first = readUrl(String(written.url));
    if (isProblem(first)) {
      const got = withoutCredentials(String(written.url));
      throw new Error(`expected the URL of a login's request, got ${got}: ${first.problem}`);
    }
    const { href, host } = first;
    let request: TaskRequest | undefined = requestOf({ ...written, url: href });
    let url = href;
    let logins = withLogin(undefined, href, first.login);
    for (let hops = 0; ; hops++) {
      const answer = await this.#ask(url, { request, first: href, login: loginFor(url, logins) }, at);
      const redirect = redirectOf(answer.status, answer.headers.location, url);
      if (redirect === undefined) {
        const task: Task = { run: at.run, url: href, host, mark: '', step: '', queue: 'normal', ...INITIAL_FIELDS };
        return new Page(task, answer);
      }
      const what = `${written.method ?? 'GET'} ${href}`;
      if ('problem' in redirect) throw new Error(`${what}: ${redirect.problem}`);
      if (hops === this.#options.maxRedirects) throw new Error(`${what} was redirected more than ${hops} times`);
      request = request === undefined ? undefined : afterRedirect(request, answer.status);
      url = redirect.to;
      logins = withLogin(logins, url, redirect.login);
    }
  }

  /** Makes one request in its host's turn. */
  async #ask(
    url: string,
    {
      request,
      first,
      login,
    }: { readonly request: TaskRequest | undefined; readonly first: string; readonly login: string | undefined },
    { robots, jar, holder, intervalMs, signal }: LoginAt,
  ): Promise<FetchedPage> {
    const { fetcher, hostConcurrency, maxBodyBytes } = this.#options;
    const { host } = new URL(url);
    const delayMs = await this.#permitted(robots, { url, host, intervalMs, signal });
    const limit = { intervalMs: Math.max(intervalMs, delayMs), concurrency: hostConcurrency };
    const send = request === undefined ? undefined : sentTo(url, request, first);
    const turn = await this.#slots.acquire({ host, holder, limit, signal });
    const cookie = jar.headerFor(url);
    const cookies: string[] = [];
    const hold = new PageHold();
    let isFailure = true;
    try {
      const fetched = await fetcher.fetch({
        ...{ url, maxBodyBytes, signal, hold, login, redirectedFrom: first, timings: turn.timings },
        onCookies: (lines) => cookies.push(...lines),
        ...(send === undefined ? {} : { send }),
        ...(cookie === undefined ? {} : { cookie }),
      });
      isFailure = fetched.status >= FIRST_FAILURE || fetched.status === TOO_MANY;
      if (isFailure) {
        await this.#pause(host, fetched);
        throw new Error(`${send?.method ?? 'GET'} ${url}: HTTP ${fetched.status}`);
      }
      await jar.keep(url, cookies);
      return fetched;
    } catch (error: unknown) {
      if (!(error instanceof FetchError)) throw error;
      throw new Error(`${send?.method ?? 'GET'} ${url}: ${error.message}`, { cause: error });
    } finally {
      hold.end();
      await turn.over({ isFailure }).catch(() => {});
    }
  }

  /** Pauses a host that asks for it, for the whole fleet; the next try of the login waits as well. */
  async #pause(host: string, { status, headers }: FetchedPage): Promise<void> {
    const { gate, clock } = this.#options;
    const askedMs = retryAfterMs(headers, clock.now());
    const pauseMs = askedMs ?? (status === TOO_MANY ? throttlePauseMs(1) : 0);
    if (pauseMs > 0) await gate.pause(host, pauseMs, `HTTP ${status}${askedMs === undefined ? '' : ', Retry-After'}`);
  }

  /** Returns the delay that robots.txt asks for, once that is known. Throws if it forbids the request, or can't be fetched. */
  async #permitted(robots: Robots | undefined, candidate: Candidate): Promise<number> {
    const { clock } = this.#options;
    const { url, signal } = candidate;
    if (robots === undefined) return 0;
    for (;;) {
      signal.throwIfAborted();
      const permission = await robots.permit(candidate, await robots.look(url));
      switch (permission.kind) {
        case 'allow':
          return permission.intervalMs;
        case 'skip':
        case 'unreachable':
          throw new Error(`${url}: ${permission.detail}`);
        case 'fail':
          throw new Error(`${url}: ${permission.error.message}`, { cause: permission.error });
        case 'later':
          await clock.sleep(permission.inMs, signal);
      }
    }
  }
}

/** Returns the `Referer` of a form as browsers send it (strict-origin-when-cross-origin): sites that guard against forged requests check it. */
function refererOf(page: string, to: string): Readonly<Record<string, string>> {
  const [from, target] = [new URL(page), URL.parse(to)];
  if (from.protocol === 'https:' && target?.protocol !== 'https:') return {};
  return { referer: from.origin === target?.origin ? from.href : `${from.origin}/` };
}
