import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyMemory, type BodyShare } from '../../../../shared/fetchers/body-memory.ts';
import { RequestClock } from '../../../../shared/fetchers/request-clock.ts';
import { RequestTimings } from '../../../../shared/ports/fetcher.ts';

/** A memory of 1 MB, and bodies that note when they resume. */
function setup() {
  const memory = new BodyMemory(1_000_000);
  const wentOn: string[] = [];
  const open = (name: string, saysBytes?: number, most = 10_000_000): BodyShare => {
    const share = memory.open(saysBytes, most, new RequestClock());
    share.onRoom = () => wentOn.push(name);
    return share;
  };
  return { memory, wentOn, open };
}

/** Waits for one turn of the event loop, in which the bodies that may resume do so. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('a body reserves its declared length, or 256 KiB, but never more than its limit', () => {
  const { memory, open } = setup();
  open('says', 100_000);
  expect(memory.usedBytes).toBe(100_000);
  open('does not say');
  expect(memory.usedBytes).toBe(100_000 + 262_144);
  open('may not', undefined, 1_000);
  expect(memory.usedBytes).toBe(100_000 + 262_144 + 1_000);
});

test('a body beyond its reservation grows step by step, and in the end holds only its real size', () => {
  const { memory, open } = setup();
  const share = open('a', 10);
  expect([share.take(4), share.take(6), memory.usedBytes]).toEqual([true, true, 10]);
  expect([share.take(5), memory.usedBytes]).toEqual([true, 15 + 65_536]);
  share.settle(7);
  expect(memory.usedBytes).toBe(7);
  share.close();
  share.close();
  expect(memory.usedBytes).toBe(0);
});

test('without room a body waits; as room becomes free, the oldest that fits resumes', async () => {
  const { memory, open, wentOn } = setup();
  const [first] = [open('first', 900_000), open('large', 500_000), open('small', 200_000), open('late', 50_000)];
  expect([memory.waiting, memory.usedBytes]).toEqual([2, 950_000]);
  first.settle(700_000);
  await settled();
  expect([wentOn, memory.waiting]).toEqual([['small'], 1]);
  first.close();
  await settled();
  expect([wentOn, memory.waiting]).toEqual([['small', 'large'], 0]);
  expect(memory.usedBytes).toBe(750_000);
});

test('the oldest body goes on, even beyond the memory; the next resumes once it is closed', async () => {
  const { memory, open, wentOn } = setup();
  const [a, b] = [open('a', 5_000_000), open('b', 5_000_000)];
  expect([a.take(5_000_000), a.take(1_000_000), memory.waiting]).toEqual([true, true, 1]);
  a.settle(6_000_000);
  await settled();
  // It is held, and will be released: until then nobody else gets more than there is.
  expect(wentOn).toEqual([]);
  a.close();
  await settled();
  expect(wentOn).toEqual(['b']);
  expect(b.take(5_000_000)).toBe(true);
});

test('a body that outgrows the memory stops, and resumes with its next step once there is room', async () => {
  const { memory, open, wentOn } = setup();
  const a = open('a', 900_000);
  const b = open('b', 50_000);
  expect([b.take(50_000), b.take(10_000), memory.waiting]).toEqual([true, false, 1]);
  // Bytes that were under way still arrive, and count.
  expect([b.take(1_000), memory.usedBytes, memory.waiting]).toEqual([false, 961_000, 1]);
  a.settle(1_000);
  await settled();
  expect([wentOn, memory.waiting, memory.usedBytes]).toEqual([['b'], 0, 1_000 + 61_000 + 65_536]);
  expect(b.take(65_536)).toBe(true);
});

test('an empty body never waits, even if more memory is used than there is', () => {
  const { memory, open } = setup();
  const large = open('large', 1_000_000);
  large.take(1_500_000);
  const clock = new RequestClock();
  const empty = memory.open(0, 10_000_000, clock);
  expect([memory.usedBytes > 1_000_000, memory.waiting, empty.take(0)]).toEqual([true, 0, true]);
  empty.settle(0);
  empty.close();
  large.close();
  expect([memory.usedBytes, memory.waiting]).toEqual([0, 0]);
});

test('the clock of a request stands still while its body waits, even if the body is given up', async () => {
  const memory = new BodyMemory(100);
  const clocks = [1, 2].map(() => new RequestClock());
  const first = memory.open(100, 1_000, clocks[0] as RequestClock);
  const timings = new RequestTimings();
  const clock = new RequestClock(timings);
  const waiting = memory.open(1, 1_000, clock);
  const shown = clock.elapsedMs;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(clock.elapsedMs).toBe(shown);
  waiting.close();
  expect(timings.waitedMs).toBeGreaterThan(15);
  expect(clock.elapsedMs).toBeLessThan(shown + 15);
  first.close();
  expect([memory.usedBytes, memory.waiting]).toEqual([0, 0]);
});

test('thousands of bodies that resume at once do not overflow the stack', async () => {
  const memory = new BodyMemory(1);
  const first = memory.open(1, 1, new RequestClock());
  let ended = 0;
  for (let n = 0; n < 20_000; n++) {
    const share = memory.open(1, 1, new RequestClock());
    share.onRoom = () => {
      ended += 1;
      share.close();
    };
  }
  first.close();
  while (ended < 20_000) await settled();
  expect([memory.usedBytes, memory.waiting]).toEqual([0, 0]);
});

test('at any time the reservations add up, the oldest body does not wait, and in the end all memory is free', async () => {
  const step = fc.record({
    kind: fc.constantFrom('open', 'take', 'settle', 'close'),
    at: fc.nat(7),
    bytes: fc.integer({ min: 1, max: 600_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { memory, open } = setup();
      const shares: BodyShare[] = [];
      for (const { kind, at, bytes } of steps) {
        const share = shares[at % Math.max(1, shares.length)];
        if (kind === 'open' || share === undefined) shares.push(open('x', at % 2 === 0 ? bytes : undefined));
        else if (kind === 'take') share.take(bytes);
        else if (kind === 'settle') share.settle(bytes);
        else {
          share.close();
          shares.splice(shares.indexOf(share), 1);
        }
        await settled();
        expect(memory.usedBytes).toBe(shares.reduce((sum, { reservedBytes }) => sum + reservedBytes, 0));
        expect(memory.waiting).toBe(shares.filter(({ wantedBytes }) => wantedBytes > 0).length);
        expect(shares[0]?.wantedBytes ?? 0, 'the oldest goes on').toBe(0);
      }
      for (const share of shares) share.close();
      expect([memory.usedBytes, memory.waiting]).toEqual([0, 0]);
    }),
    { numRuns: 100 },
  );
});
