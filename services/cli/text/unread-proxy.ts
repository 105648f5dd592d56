import type { RunProgress } from '../../../shared/ports/runs.ts';

/** Variables that other programs read a proxy from; Trawl reads PROXY_URL only. */
const NAMES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
/** Reasons of a failure without an answer. */
const UNANSWERED: ReadonlySet<string> = new Set(['dns', 'connection', 'timeout', 'host_down']);

/** Names the variable in which the environment has a proxy for other programs; undefined if there is none, or Trawl has its own. */
export function unreadProxy({ proxies }: { readonly proxies: readonly unknown[] }): string | undefined {
  return proxies.length > 0 ? undefined : NAMES.find((name) => (process.env[name] ?? '') !== '');
}

/** Says how to crawl through a proxy that Trawl hasn't read: it may be the only way out of this network. */
export function unreadProxyLine(name: string): string {
  return `${name} is set, but Trawl doesn't read it. If this network needs that proxy: --proxy-url "$${name}"`;
}

/** Can this failure be due to a network that needs a proxy? */
export function isUnanswered(reason: string): boolean {
  return UNANSWERED.has(reason);
}

/** Did a run get no answer at all? */
export function gotNoAnswer({ done, skipped, failed, reasons, hostsDown }: RunProgress): boolean {
  if (failed === 0 || done + skipped > 0 || hostsDown.named.some(({ kind }) => kind === 'answered')) return false;
  return Object.keys(reasons.failed).every(isUnanswered);
}
