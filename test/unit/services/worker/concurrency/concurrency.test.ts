import { expect, test } from 'vitest';
import { Concurrency, type Load, slotsFor } from '../../../../../services/worker/concurrency/concurrency.ts';

const MANY_FILES = 100_000;
const AT_EASE: Load = {
  isFull: true,
  isCrowded: false,
  utilization: 0.5,
  loopDelayMs: 2,
  memoryShare: 0.1,
  waitingForMemory: 0,
  storingMs: 20,
};

/** A concurrency that measures its load twice a second; `after` returns its size after that many measurements. */
function setup(wanted: number | 'auto' = 'auto', openFiles = MANY_FILES, most = 1_024) {
  const concurrency = new Concurrency({ wanted, most, openFiles });
  let now = 0;
  return {
    concurrency,
    after(looks: number, load: Partial<Load> = {}): number {
      for (let n = 0; n < looks; n++) {
        now += 500;
        concurrency.look({ ...AT_EASE, ...load }, now);
      }
      return concurrency.size;
    },
  };
}

test('slots double up to their limit while all are taken and more is due', () => {
  const { after, concurrency } = setup();
  expect([concurrency.size, after(1), after(1), after(3), after(5)]).toEqual([64, 128, 256, 1_024, 1_024]);
  expect(concurrency.bound).toBe('slots');
});

test('slots double up to as many requests as the fetcher can hold open', () => {
  const { after } = setup('auto', MANY_FILES, 2_048);
  expect([after(4), after(1), after(5)]).toEqual([1_024, 2_048, 2_048]);
});

test('slots stay as they are while nothing more is due, and the bound is politeness', () => {
  const { after, concurrency } = setup();
  expect([after(10, { isFull: false }), concurrency.bound]).toEqual([64, 'politeness']);
});

test('slots double while most pages wait for places at their hosts, and the bound is politeness', () => {
  const { after, concurrency } = setup();
  expect([after(1, { isCrowded: true }), concurrency.bound]).toEqual([128, 'politeness']);
  expect([after(1, { isCrowded: true, utilization: 0.95 }), concurrency.bound]).toEqual([128, 'cpu']);
});

test('slots stay as they are while the CPU is busy, and the bound is cpu', () => {
  const { after, concurrency } = setup();
  expect([after(10, { utilization: 0.95 }), concurrency.bound]).toEqual([64, 'cpu']);
  expect(after(1)).toBe(128);
});

test.each([
  ['the event loop is late', { loopDelayMs: 51 }, 32],
  ['memory is short', { memoryShare: 0.81 }, 8],
])(
  'while %s, slots shrink by a fifth every five seconds, and grow by a tenth a second afterwards',
  (_, trouble, least) => {
    const { after } = setup();
    after(5);
    expect([after(1, trouble), after(9, trouble), after(1, trouble)]).toEqual([819, 819, 655]);
    expect(after(2)).toBe(723);
    expect(after(1_000, trouble)).toBe(least);
  },
);

test('a late event loop never shrinks slots below 32, as so few pages are not its cause', () => {
  const { after } = setup();
  expect(after(100, { loopDelayMs: 500 })).toBe(32);
  expect(after(1)).toBe(34);
});

test('slots stay as they are while pages wait for memory, and the bound is memory', () => {
  const { after, concurrency } = setup();
  expect([after(10, { waitingForMemory: 1 }), concurrency.bound]).toEqual([64, 'memory']);
  expect(after(1)).toBe(128);
});

test('slots stay as they are while records take over two seconds to store, and the bound is the sink', () => {
  const { after, concurrency } = setup();
  expect([after(10, { storingMs: 2_001 }), concurrency.bound]).toEqual([64, 'sink']);
  expect([after(1, { storingMs: 2_001, waitingForMemory: 1 }), concurrency.bound]).toEqual([64, 'sink']);
  expect([after(1, { storingMs: 2_001, utilization: 0.95 }), concurrency.bound]).toEqual([64, 'cpu']);
  expect([after(1, { storingMs: 1_999 }), concurrency.bound]).toEqual([128, 'slots']);
});

test('a configured number of slots never changes', () => {
  const { after, concurrency } = setup(100);
  expect([concurrency.size, after(5), after(5, { loopDelayMs: 500 })]).toEqual([100, 100, 100]);
  expect([after(1, { memoryShare: 0.9 }), concurrency.bound]).toEqual([100, 'memory']);
});

test('slots are limited by open files, at two per page, with some left for the rest of the process', () => {
  expect(slotsFor(1_024)).toBe(448);
  const { after, concurrency } = setup('auto', 256);
  expect([after(10), concurrency.bound]).toEqual([64, 'files']);
  expect(setup(500, 256).concurrency.size).toBe(64);
  expect(setup('auto', 3).concurrency.size).toBe(1);
});
