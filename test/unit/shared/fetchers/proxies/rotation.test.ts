import { expect, test } from 'vitest';
import { GotFetcher } from '../../../../../shared/fetchers/got/fetcher.ts';
import { Rotation } from '../../../../../shared/fetchers/proxies/rotation.ts';
import { type ProxyAddress, parseProxies } from '../../../../../shared/task/host/proxy-list.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

function setup(...names: string[]) {
  const proxies = parseProxies(names.map((name) => `http://${name}`));
  if ('problems' in proxies) throw new Error(proxies.problems.join());
  const clock = new SteppedClock();
  const restsMs: number[] = [];
  const rotation = new Rotation({ proxies, clock, onRest: (_, __, restMs) => restsMs.push(restMs) });
  const order = (): string =>
    rotation
      .order()
      .map(({ host }) => host)
      .join('');
  const proxy = (name: string): ProxyAddress => {
    const found = proxies.find(({ host }) => host === name);
    if (found === undefined) throw new Error(`there is no proxy ${name}`);
    return found;
  };
  return { rotation, clock, restsMs, order, proxy };
}

test('each proxy comes first in turn, with the others behind it', () => {
  const { order } = setup('a', 'b', 'c');
  expect([order(), order(), order(), order()]).toEqual(['abc', 'bca', 'cab', 'abc']);
});

test('a resting proxy is left out, and takes its turn again when its rest is over', () => {
  const { rotation, clock, order, proxy } = setup('a', 'b', 'c');
  rotation.failed(proxy('b'), 'broke');
  expect([order(), order(), order()]).toEqual(['ac', 'ca', 'ac']);
  expect(rotation.troubles).toEqual(['broke']);
  clock.step(60_000);
  expect([order(), order()]).toEqual(['bca', 'cab']);
  expect(rotation.troubles).toEqual([]);
});

test('a fetcher is without a proxy while all of them rest', async () => {
  const { rotation, clock, proxy } = setup('a', 'b');
  const fetcher = new GotFetcher({ timeoutMs: 1_000, userAgent: 'test', proxies: rotation });
  rotation.failed(proxy('a'), 'broke');
  expect(fetcher.isWithoutProxy).toBe(false);
  rotation.failed(proxy('b'), 'broke');
  expect(fetcher.isWithoutProxy).toBe(true);
  clock.step(60_000);
  expect(fetcher.isWithoutProxy).toBe(false);
  await fetcher.stop();
  const direct = new GotFetcher({ timeoutMs: 1_000, userAgent: 'test' });
  expect(direct.isWithoutProxy).toBe(false);
  await direct.stop();
});

test('rests double up to a quarter of an hour, and start at a minute again after a success', () => {
  const { rotation, clock, restsMs, proxy } = setup('a');
  for (let n = 0; n < 6; n++) {
    rotation.failed(proxy('a'), 'broke');
    clock.step(900_000);
  }
  expect(restsMs).toEqual([60_000, 120_000, 240_000, 480_000, 900_000, 900_000]);
  rotation.worked(proxy('a'));
  rotation.failed(proxy('a'), 'broke');
  expect(restsMs.at(-1)).toBe(60_000);
});

test('requests that fail together count as one failure', () => {
  const { rotation, restsMs, order, proxy } = setup('a');
  for (let n = 0; n < 32; n++) rotation.failed(proxy('a'), 'broke');
  expect(restsMs).toEqual([60_000]);
  expect(order()).toBe('');
});

test('a proxy rests after three hosts in a row that it cannot reach, but not for one host, however often', () => {
  const { rotation, clock, order, proxy } = setup('a');
  for (let n = 0; n < 9; n++) rotation.unreached(proxy('a'), 'down.test', '503');
  rotation.unreached(proxy('a'), 'too.test', '503');
  expect(order()).toBe('a');
  rotation.worked(proxy('a'));
  rotation.unreached(proxy('a'), 'third.test', '503');
  rotation.unreached(proxy('a'), 'fourth.test', '503');
  expect(order()).toBe('a');
  rotation.unreached(proxy('a'), 'fifth.test', '503');
  expect(order()).toBe('');
  // Otherwise hosts that are down would keep it at rest for ever.
  clock.step(60_000);
  rotation.unreached(proxy('a'), 'fifth.test', '503');
  expect(order()).toBe('a');
});
