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

/** A concurrency that is looked at twice a second, and its sizes. */
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

test('while all slots are taken and more is due, they double, up to an end', () => {
  const { after, concurrency } = setup();
  expect([concurrency.size, after(1), after(1), after(3), after(5)]).toEqual([64, 128, 256, 1_024, 1_024]);
  expect(concurrency.bound).toBe('slots');
});

test('they double as far as the fetcher goes', () => {
  const { after } = setup('auto', MANY_FILES, 2_048);
  expect([after(4), after(1), after(5)]).toEqual([1_024, 2_048, 2_048]);
});

test('nothing more is due: they stay, and politeness is what binds', () => {
  const { after, concurrency } = setup();
  expect([after(10, { isFull: false }), concurrency.bound]).toEqual([64, 'politeness']);
});

test('most wait for places at their hosts: there are more for the sake of the others, and politeness is what binds', () => {
  const { after, concurrency } = setup();
  expect([after(1, { isCrowded: true }), concurrency.bound]).toEqual([128, 'politeness']);
  expect([after(1, { isCrowded: true, utilization: 0.95 }), concurrency.bound]).toEqual([128, 'cpu']);
});

test('no time left: more open pages would only wait for each other', () => {
  const { after, concurrency } = setup();
  expect([after(10, { utilization: 0.95 }), concurrency.bound]).toEqual([64, 'cpu']);
  expect(after(1)).toBe(128);
});

test.each([
  ['the event loop is late', { loopDelayMs: 51 }, 32],
  ['memory is short', { memoryShare: 0.81 }, 8],
])('%s: a fifth fewer, every five seconds, and from then on a tenth a second more', (_, trouble, least) => {
  const { after } = setup();
  after(5);
  expect([after(1, trouble), after(9, trouble), after(1, trouble)]).toEqual([819, 819, 655]);
  expect(after(2)).toBe(723);
  expect(after(1_000, trouble)).toBe(least);
});

test('late with few pages open: they are not the cause, and there are no fewer', () => {
  const { after } = setup();
  expect(after(100, { loopDelayMs: 500 })).toBe(32);
  expect(after(1)).toBe(34);
});

test('pages wait for memory: more of them at once would not help, and fewer neither', () => {
  const { after, concurrency } = setup();
  expect([after(10, { waitingForMemory: 1 }), concurrency.bound]).toEqual([64, 'memory']);
  expect(after(1)).toBe(128);
});

test('records wait for seconds to be stored: the sink is what binds, and more open pages would only wait for it, too', () => {
  const { after, concurrency } = setup();
  expect([after(10, { storingMs: 2_001 }), concurrency.bound]).toEqual([64, 'sink']);
  expect([after(1, { storingMs: 2_001, waitingForMemory: 1 }), concurrency.bound]).toEqual([64, 'sink']);
  expect([after(1, { storingMs: 2_001, utilization: 0.95 }), concurrency.bound]).toEqual([64, 'cpu']);
  expect([after(1, { storingMs: 1_999 }), concurrency.bound]).toEqual([128, 'slots']);
});

test('a number stands, whatever happens', () => {
  const { after, concurrency } = setup(100);
  expect([concurrency.size, after(5), after(5, { loopDelayMs: 500 })]).toEqual([100, 100, 100]);
  expect([after(1, { memoryShare: 0.9 }), concurrency.bound]).toEqual([100, 'memory']);
});

test('files: a page has two, and others are left', () => {
  expect(slotsFor(1_024)).toBe(448);
  const { after, concurrency } = setup('auto', 256);
  expect([after(10), concurrency.bound]).toEqual([64, 'files']);
  expect(setup(500, 256).concurrency.size).toBe(64);
  expect(setup('auto', 3).concurrency.size).toBe(1);
});
