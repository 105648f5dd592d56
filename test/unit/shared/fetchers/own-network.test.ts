import { expect, test } from 'vitest';
import { OwnNetwork } from '../../../../shared/fetchers/own-network.ts';
import { FetchError } from '../../../../shared/ports/fetcher.ts';
import type { FetchFailure } from '../../../../shared/task/task/fetch-failure.ts';

/** A network whose clock stands still until a test moves it. */
function setup() {
  let now = 0;
  const network = new OwnNetwork(() => now);
  return {
    network,
    wait: (ms: number) => {
      now += ms;
    },
    /** Asks a host, which answers, or fails with this reason and code, after `tookMs`. Returns the reason that the caller sees. */
    async ask(host: string, fails?: FetchFailure, code?: string, tookMs = 0): Promise<string> {
      const request = async (): Promise<string> => {
        now += tookMs;
        if (fails === undefined) return 'answered';
        const cause = Object.assign(new Error('why'), { code });
        throw new FetchError(fails, 'why', { cause });
      };
      return await network.watch(host, request).catch((error: FetchError) => error.reason);
    },
  };
}

test.each<[FetchFailure, string]>([
  ['timeout', 'ETIMEDOUT'],
  ['dns', 'EAI_AGAIN'],
  ['connection', 'ENETUNREACH'],
  ['connection', 'EHOSTUNREACH'],
])('the network counts as away once three hosts fail with %s (%s) and none answers', async (reason, code) => {
  const { network, ask } = setup();
  expect([await ask('a', reason, code), await ask('a', reason, code), await ask('b', reason, code)]).toEqual(
    Array(3).fill(reason),
  );
  expect(network.isAway).toBe(false);
  expect(await ask('c', reason, code)).toBe('network');
  expect(await ask('a', reason, code)).toBe('network');
  expect(network.isAway).toBe(true);
  expect(await ask('d')).toBe('answered');
  expect(network.isAway).toBe(false);
});

test.each<[FetchFailure, string]>([
  ['connection', 'ECONNREFUSED'],
  ['connection', 'ECONNRESET'],
  ['tls', 'CERT_HAS_EXPIRED'],
  ['nxdomain', 'ENOTFOUND'],
])('a failure with %s (%s) is never an outage, and shows that there is none', async (reason, code) => {
  const { network, ask } = setup();
  for (const host of ['a', 'b', 'c', 'd']) expect(await ask(host, reason, code)).toBe(reason);
  await ask('x', 'timeout');
  await ask('y', 'timeout');
  await ask('a', reason, code);
  expect(await ask('z', 'timeout')).toBe('timeout');
  expect(network.isAway).toBe(false);
});

test('a failure that says nothing about a host changes nothing', async () => {
  const { network, ask } = setup();
  for (const host of ['a', 'b', 'c']) await ask(host, 'timeout');
  for (const reason of ['aborted', 'proxy', 'exhausted'] as const) expect(await ask('d', reason)).toBe(reason);
  expect(network.isAway).toBe(true);
});

test('hosts that stay silent while another answers are at fault, even once no other host is asked', async () => {
  const { network, ask, wait } = setup();
  for (const host of ['a', 'b', 'c']) await ask(host, 'timeout', undefined, 1_000);
  wait(1_000);
  await ask('good');
  for (let round = 0; round < 3; round++) {
    for (const host of ['a', 'b', 'c']) expect(await ask(host, 'timeout', undefined, 30_000)).toBe('timeout');
  }
  expect(network.isAway).toBe(false);
});

test('in an outage neither hosts that are new then nor hosts that answered before are at fault', async () => {
  const { ask, wait } = setup();
  for (const host of ['a', 'b', 'c']) await ask(host);
  wait(1_000);
  expect(await ask('a', 'dns')).toBe('dns');
  expect(await ask('new', 'dns')).toBe('dns');
  expect(await ask('b', 'dns')).toBe('network');
  wait(600_000);
  expect(await ask('new', 'dns')).toBe('network');
});

test('an answer that is cut off still shows that the network works', async () => {
  const { network } = setup();
  const cut = async (): Promise<never> => {
    throw new FetchError('timeout', 'its body took too long', { status: 200 });
  };
  for (const host of ['a', 'b', 'c', 'd'])
    await expect(network.watch(host, cut)).rejects.toMatchObject({ reason: 'timeout' });
  expect(network.isAway).toBe(false);
});
