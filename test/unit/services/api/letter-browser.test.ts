import { expect, onTestFinished, test, vi } from 'vitest';
import { LetterBrowser } from '../../../../services/api/letter-browser.ts';
import type { HowLinked, Link } from '../../../../services/api/link.ts';
import { whileThere } from '../../../../services/api/while-there.ts';
import type { DeadLetterMessage, DeadLetters } from '../../../../shared/ports/transport.ts';
import { UnavailableError } from '../../../../shared/runtime/errors.ts';
import { letterOf } from '../../../support/stores/letters.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

/** A letter browser whose browses end, and whose callers give up, when the test says so. */
function setup() {
  const clock = new SteppedClock();
  const begun: PromiseWithResolvers<readonly DeadLetterMessage[]>[] = [];
  const letters = {
    browse: () => {
      const browse = Promise.withResolvers<readonly DeadLetterMessage[]>();
      begun.push(browse);
      return browse.promise;
    },
  } as unknown as DeadLetters;
  let late = Promise.withResolvers<never>();
  const queue = { ready: 0, consumers: 0 };
  const link = {
    depths: async () => ({ failed: queue }),
    withLetters: (action: (letters: DeadLetters) => Promise<unknown>) => Promise.race([action(letters), late.promise]),
  } as unknown as Link;
  const giveUp = (): void => {
    late.reject(new UnavailableError('RabbitMQ did not answer in time'));
    late = Promise.withResolvers();
  };
  return { browser: new LetterBrowser(link, clock), clock, begun, giveUp, queue };
}

test('a long browse is the only one: it serves everyone who asks meanwhile, and is kept for a while after its end', async () => {
  const { browser, clock, begun, giveUp } = setup();
  const first = browser.browse();
  clock.step(15_000);
  const second = browser.browse();
  giveUp();
  await expect(first).rejects.toThrow('in time');
  await expect(second).rejects.toThrow('in time');
  const third = browser.browse();
  expect(begun).toHaveLength(1);
  const { id, body, headers } = letterOf('http://a.test/', { at: 0 });
  begun[0]?.resolve([{ id, body: Buffer.from(String(body)), headers }]);
  expect(await third).toHaveLength(1);
  clock.step(134_999);
  expect(await browser.browse(), 'it took 15 s').toHaveLength(1);
  expect(begun).toHaveLength(1);
  clock.step(1);
  const quick = browser.browse();
  expect(begun).toHaveLength(2);
  begun[1]?.resolve([]);
  await quick;
  clock.step(9_999);
  await browser.browse();
  expect(begun).toHaveLength(2);
  clock.step(1);
  void browser.browse();
  expect(begun).toHaveLength(3);
});

test('a browse begun before a change serves nobody who asks after the change, and a failed one serves nobody', async () => {
  const { browser, begun } = setup();
  const before = browser.browse();
  browser.forget();
  const after = browser.browse();
  expect(begun).toHaveLength(2);
  begun[0]?.resolve([]);
  await before;
  begun[1]?.reject(new UnavailableError('RabbitMQ went away'));
  await expect(after).rejects.toThrow('went away');
  void browser.browse();
  expect(begun).toHaveLength(3);
});

test('letters are counted without reading any, including those being browsed', async () => {
  const { browser, begun, queue } = setup();
  queue.ready = 130_000;
  expect(await browser.count()).toBe(130_000);
  expect(begun).toHaveLength(0);
  const browsing = browser.browse();
  queue.ready = 30_000;
  expect(await browser.count()).toBe(130_000);
  begun[0]?.resolve([]);
  await browsing;
  queue.ready = 129_000;
  expect(await browser.count()).toBe(129_000);
});

test('who asks for more letters than can be read in time learns that the read goes on, and gets its result later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const browse = Promise.withResolvers<readonly DeadLetterMessage[]>();
  const letters = { browse: () => browse.promise } as unknown as DeadLetters;
  const link = {
    withLetters: (action: (letters: DeadLetters) => Promise<unknown>, how?: HowLinked) =>
      whileThere(action(letters), {
        ...{ service: 'RabbitMQ', lost: new AbortController().signal, withinMs: 20_000 },
        ...how,
      }),
  } as unknown as Link;
  const browser = new LetterBrowser(link, new SteppedClock());
  const late = expect(browser.browse()).rejects.toThrow(
    new UnavailableError('reading the dead letters takes longer than 20 s, and goes on: ask again in a few seconds'),
  );
  vi.advanceTimersByTime(20_000);
  await late;
  const again = browser.browse();
  browse.resolve([]);
  expect(await again).toEqual([]);
});
