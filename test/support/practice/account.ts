import type { TestSite } from '../site.ts';
import { htmlOf, pageOf } from './serve.ts';

/** The login of the shop's only customer. */
export const CUSTOMER = { SHOP_USER: 'canary-user', SHOP_PASSWORD: 'canary pass/1' };
export const ORDERS = 12;
const ON_A_PAGE = 5;
/** Pages that the first session lasts for, so that it ends in the middle of a crawl. */
const FIRST_SESSION_PAGES = 4;

/** How the account was used. */
export interface AccountLog {
  /** Logins that succeeded. */
  logins: number;
  /** Logins that were refused. */
  refused: number;
}

/**
 * Serves the orders of a customer, who has to log in by a form with a hidden token that belongs to a cookie. Every third order was
 * cancelled. Requests without a session are redirected to the login.
 */
export function serveAccount(site: TestSite): AccountLog {
  const log: AccountLog = { logins: 0, refused: 0 };
  const pagesLeft = new Map<string, number>();
  const form = (token: string, error = ''): string =>
    htmlOf(
      'Log in',
      `<form action="/search"><input name="q"></form>${error}<form method="post" action="/account/login">
        <input type="hidden" name="token" value="${token}"><input name="user"><input type="password" name="password">
        <button name="go" value="1">Log in</button></form>`,
    );
  site.on('/account/login', async (request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (request.method !== 'POST') {
      const token = `t${Math.random().toString(36).slice(2)}`;
      response.setHeader('set-cookie', `form=${token}; Path=/account; HttpOnly`).end(form(token));
      return;
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const given = new URLSearchParams(body);
    const token = given.get('token') ?? '';
    const isRight =
      given.get('user') === CUSTOMER.SHOP_USER &&
      given.get('password') === CUSTOMER.SHOP_PASSWORD &&
      cookieIn(request.headers.cookie, 'form') === token;
    if (!isRight) {
      log.refused++;
      response.end(form(token, '<p class="error">wrong password</p>'));
      return;
    }
    log.logins++;
    const sid = `canary${Math.random().toString(36).slice(2)}`;
    pagesLeft.set(sid, log.logins === 1 ? FIRST_SESSION_PAGES : Number.POSITIVE_INFINITY);
    response.setHeader('set-cookie', `sid=${sid}; Path=/; HttpOnly; SameSite=Lax`);
    response.writeHead(303, { location: '/account/' }).end();
  });
  const member = (path: string, isCounted: boolean, page: (url: URL) => string): void =>
    site.on(path, ({ url, headers }, response) => {
      const sid = cookieIn(headers.cookie, 'sid') ?? '';
      const left = pagesLeft.get(sid) ?? 0;
      if (left <= 0) {
        response.writeHead(302, { location: `/account/login?next=${encodeURIComponent(path)}` }).end();
        return;
      }
      if (isCounted) pagesLeft.set(sid, left - 1);
      response.setHeader('content-type', 'text/html; charset=utf-8').end(page(new URL(url ?? '', site.origin)));
    });
  member('/account/', false, () => htmlOf('Account', '<p class="greeting">Hello</p>'));
  member('/account/orders', true, (url) => {
    const page = pageOf(url);
    const from = (page - 1) * ON_A_PAGE;
    const shown = allOrders().slice(from, from + ON_A_PAGE);
    const links = shown.map(({ number }) => `<a class="order" href="/account/order/${number}">${number}</a>`);
    const next = from + ON_A_PAGE < ORDERS ? `<a class="next" href="?page=${page + 1}">more</a>` : '';
    return htmlOf('Orders', links.join(' ') + next);
  });
  for (const { number, total, state } of allOrders())
    member(`/account/order/${number}`, true, () =>
      htmlOf(number, `<h1>${number}</h1><b class="total">${total} €</b><i class="state">${state}</i>`),
    );
  return log;
}

export function allOrders(): readonly { readonly number: string; readonly total: number; readonly state: string }[] {
  return Array.from({ length: ORDERS }, (_, n) => {
    const state = n % 3 === 2 ? 'cancelled' : 'sent';
    return { number: `N${100 + n}`, total: 10 + n, state };
  });
}

function cookieIn(header = '', name: string): string | undefined {
  const pair = header.split('; ').find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}
