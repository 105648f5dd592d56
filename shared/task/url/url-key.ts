/**
 * Rules that treat different URLs as the same page. They are not in the URL Standard or RFC 3986, and a server may answer
 * each URL differently, so all are off unless a run names them. The URL is still fetched as written.
 *
 * | rule                | the same page                                                                       |
 * |---------------------|-------------------------------------------------------------------------------------|
 * | `no-www`            | `www.example.com` and `example.com`                                                 |
 * | `no-trailing-slash` | `/a/` and `/a`                                                                      |
 * | `no-tracking`       | with and without parameters that track visitors: `utm_…`, `gclid` …                 |
 * | `no-session`        | with and without the id of a visitor's session: `?sid=0f3a…`, `;jsessionid=…`, `/(S(…))/` |
 * | `sort-query`        | `?b=1&a=2` and `?a=2&&b=1`; parameters of one name keep their order                 |
 */
export const URL_KEY_RULES = ['no-www', 'no-trailing-slash', 'no-tracking', 'no-session', 'sort-query'] as const;
export type UrlKeyRule = (typeof URL_KEY_RULES)[number];

const TRACKING =
  /^(?:utm_[a-z_]+|[gd]clid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|mc_[ce]id|_hs(?:enc|mi)|_g[al])$/i;

/** Parameters that hold nothing but the id of a session. */
const SESSION =
  /^(?:j?session_?id|phpsessid|aspsessionid[a-z]*|asp\.net_sessionid|sessid|oscsid|zenid|xtcsid|cfid|cftoken)(?:=|$)/i;
/** Parameters that count as session ids only if their value is as long as one: they may be something else, such as the number of a story. */
const MAYBE_SESSION = /^(?:sid|s|session)=(?=[a-z]*\d)[\da-z]{22,}$/i;
/** Session ids in a path, as Java and ASP.NET write them. */
const SESSION_IN_PATH = /;jsessionid=[^;/]*|\/\((?:[a-z]\([\w-]+\))+\)(?=\/)/gi;

/** Makes the key by which a run with these rules compares a URL, from {@link CrawlUrl.canonical}. */
export function urlKeyOf(canonical: string, rules: readonly UrlKeyRule[] = []): string {
  if (rules.length === 0) return canonical;
  const hostAt = canonical.indexOf('//') + 2;
  const pathAt = canonical.indexOf('/', hostAt);
  const queryAt = canonical.indexOf('?', pathAt);
  const pathEnd = queryAt < 0 ? canonical.length : queryAt;
  let authority = canonical.slice(hostAt, pathAt);
  let path = canonical.slice(pathAt, pathEnd);
  let query = queryAt < 0 ? undefined : canonical.slice(queryAt + 1);
  if (rules.includes('no-www')) authority = withoutWww(authority);
  if (rules.includes('no-session')) path = path.replaceAll(SESSION_IN_PATH, '');
  if (rules.includes('no-trailing-slash') && /[^/]\/$/.test(path)) path = path.slice(0, -1);
  if (rules.includes('no-tracking')) query = withoutParameters(query, isTracking);
  if (rules.includes('no-session')) query = withoutParameters(query, isSession);
  if (query !== undefined && rules.includes('sort-query')) query = sorted(query);
  return `${canonical.slice(0, hostAt)}${authority}${path}${query === undefined ? '' : `?${query}`}`;
}

/** Removes every leading `www.`, so that a key's key is the key itself. `www.com` stays: it is a domain of its own. */
function withoutWww(authority: string): string {
  const at = authority.lastIndexOf('@') + 1;
  const host = authority.slice(at);
  return authority.slice(0, at) + host.replace(/^(?:www\.)+(?=[^.]+\.)/, '');
}

/** Removes the parameters for which `isOne` holds. A query with nothing else is removed entirely; an empty query stays. */
function withoutParameters(query: string | undefined, isOne: (parameter: string) => boolean): string | undefined {
  if (query === undefined) return undefined;
  const all = query.split('&');
  const kept = all.filter((parameter) => !isOne(parameter));
  return kept.length === 0 ? undefined : kept.join('&');
}

function isTracking(parameter: string): boolean {
  return TRACKING.test(nameOf(parameter));
}

function isSession(parameter: string): boolean {
  return SESSION.test(parameter) || MAYBE_SESSION.test(parameter);
}

function sorted(query: string): string {
  const parameters = query.split('&').filter((parameter) => parameter !== '');
  const named = parameters.map((parameter) => ({ parameter, name: nameOf(parameter) }));
  named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return named.map(({ parameter }) => parameter).join('&');
}

function nameOf(parameter: string): string {
  const end = parameter.indexOf('=');
  return end < 0 ? parameter : parameter.slice(0, end);
}
