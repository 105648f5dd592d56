import { expect, test } from 'vitest';
import { SilentHosts } from '../../../../../../services/worker/pipeline/hosts/silent-hosts.ts';

/** The silent hosts of a worker with this many slots. */
function setup(slots: number) {
  const time = { now: 1_000 };
  const told = { shortages: 0 };
  const hosts = new SilentHosts({ slots: () => slots, onShortage: () => told.shortages++, now: () => time.now });
  /** Begins requests that nobody answers. The function it returns says which were cut short. */
  const ask = (...names: string[]): (() => boolean[]) => {
    const begun = names.map((name) => hosts.begin(name));
    return () => begun.map((request) => request?.signal.aborted ?? false);
  };
  return { time, told, hosts, ask };
}

test('a host first asked less than two seconds ago does not count as silent', () => {
  const { time, hosts, ask } = setup(4);
  for (let n = 0; n < 10; n++) ask('new.test');
  time.now += 1_999;
  expect(hosts.mayAsk('new.test')).toBe(true);
  expect(hosts.mayAsk('other.test')).toBe(true);
});

test('a host that never answered may have only one open request after two seconds', () => {
  const { time, hosts } = setup(100);
  const request = hosts.begin('silent.test');
  time.now += 2_000;
  expect([hosts.mayAsk('silent.test'), hosts.mayAsk('other.test')]).toEqual([false, true]);
  request?.end();
  expect(hosts.mayAsk('silent.test')).toBe(true);
});

test('a host that has answered once no longer counts as silent, even while its requests go on', () => {
  const { time, hosts } = setup(2);
  const [first, second] = [hosts.begin('slow.test'), hosts.begin('slow.test')];
  first?.answered();
  time.now += 2_000;
  expect([hosts.mayAsk('slow.test'), hosts.mayAsk('other.test')]).toEqual([true, true]);
  first?.end();
  second?.end();
  expect([first?.signal.aborted, second?.signal.aborted]).toEqual([false, false]);
  hosts.begin('silent.test');
  time.now += 2_000;
  expect(hosts.mayAsk('slow.test'), 'its answer is remembered').toBe(true);
});

test('silent hosts share half the slots, and the oldest request makes room for a new host', () => {
  const { time, told, hosts, ask } = setup(8);
  hosts.begin('good.test')?.answered();
  const areCut = ask('silent-0.test', 'silent-1.test', 'silent-2.test');
  time.now += 2_000;
  expect(hosts.mayAsk('new.test')).toBe(true);
  const isNewCut = ask('new.test');
  expect(hosts.mayAsk('newer.test'), 'the fourth is not silent yet').toBe(true);
  time.now += 2_000;
  expect(told.shortages).toBe(0);
  expect(hosts.mayAsk('good.test'), 'it has answered').toBe(true);
  expect(areCut()).toEqual([false, false, false]);
  expect(hosts.mayAsk('newer.test')).toBe(true);
  expect([...areCut(), ...isNewCut()]).toEqual([true, false, false, false]);
  expect(told.shortages).toBe(1);
});

test('requests that turn silent together are cut short, oldest first, until they hold less than half the slots', () => {
  const { time, hosts, ask } = setup(4);
  const areCut = ask('a.test', 'b.test', 'c.test', 'd.test');
  time.now += 2_000;
  expect(hosts.mayAsk('new.test')).toBe(true);
  expect(areCut()).toEqual([true, true, true, false]);
});

test('a host silent before counts as silent at once, is asked only if there is room, and keeps its slot for longer each time', () => {
  const { time, told, hosts, ask } = setup(2);
  const silence = (forMs: number): void => {
    const request = hosts.begin('silent.test');
    time.now += forMs;
    request?.end();
  };
  silence(2_000);
  const again = hosts.begin('silent.test');
  expect(hosts.mayAsk('silent.test'), 'no second request').toBe(false);
  time.now += 7_999;
  expect(hosts.mayAsk('new.test'), 'there is no room').toBe(false);
  expect([again?.signal.aborted, told.shortages]).toEqual([false, 1]);
  time.now += 1;
  expect(hosts.mayAsk('new.test')).toBe(true);
  expect(again?.signal.aborted).toBe(true);
  again?.end();
  ask('other.test');
  time.now += 2_000;
  expect(hosts.mayAsk('silent.test'), 'nothing makes room for it').toBe(false);
});

test('a silent host that answers late is no longer silent', () => {
  const { time, hosts } = setup(2);
  const request = hosts.begin('late.test');
  time.now += 5_000;
  expect(hosts.mayAsk('late.test')).toBe(false);
  request?.answered();
  expect(hosts.begin('late.test')).toBeUndefined();
  time.now += 5_000;
  expect(hosts.mayAsk('late.test')).toBe(true);
});
