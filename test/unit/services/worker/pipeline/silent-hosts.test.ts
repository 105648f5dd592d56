import { expect, test } from 'vitest';
import { SilentHosts } from '../../../../../services/worker/pipeline/silent-hosts.ts';

/** Hosts as a worker with so many slots sees them. */
function setup(slots: number) {
  const time = { now: 1_000 };
  const hosts = new SilentHosts({ slots: () => slots, now: () => time.now });
  return { time, hosts };
}

test('hosts that have been asked just now are none of those', () => {
  const { time, hosts } = setup(4);
  for (let n = 0; n < 10; n++) hosts.begin('new.test');
  time.now += 1_999;
  expect(hosts.mayAsk('new.test')).toBe(true);
  expect(hosts.mayAsk('other.test')).toBe(true);
});

test('a host that never answered has one request that lasts', () => {
  const { time, hosts } = setup(100);
  const end = hosts.begin('silent.test');
  time.now += 2_000;
  expect([hosts.mayAsk('silent.test'), hosts.mayAsk('other.test')]).toEqual([false, true]);
  end(false);
  expect(hosts.mayAsk('silent.test')).toBe(true);
});

test('all that never answered have half of the slots; a host that has answered is let through', () => {
  const { time, hosts } = setup(8);
  hosts.begin('good.test')(true);
  for (let n = 0; n < 3; n++) hosts.begin(`silent-${n}.test`);
  time.now += 2_000;
  expect(hosts.mayAsk('new.test')).toBe(true);
  hosts.begin('new.test');
  expect(hosts.mayAsk('newer.test'), 'the fourth is young').toBe(true);
  time.now += 2_000;
  expect(hosts.mayAsk('newer.test')).toBe(false);
  expect(hosts.mayAsk('good.test')).toBe(true);
});

test('one that answers late is silent no more', () => {
  const { time, hosts } = setup(2);
  const end = hosts.begin('late.test');
  time.now += 5_000;
  expect(hosts.mayAsk('late.test')).toBe(false);
  end(true);
  hosts.begin('late.test');
  time.now += 5_000;
  expect(hosts.mayAsk('late.test')).toBe(true);
});
