import { expect, test } from 'vitest';
import { type FoundLetter, readLetter } from '../../../../../shared/control/letters/letter-filter.ts';
import { listLetters } from '../../../../../shared/control/letters/letter-list.ts';
import type { DeadLetterMessage, DeadLetters } from '../../../../../shared/ports/transport.ts';
import { letterOf } from '../../../../support/stores/letters.ts';

const ENCODER = new TextEncoder();

function messageOf(...[url, options]: Parameters<typeof letterOf>): DeadLetterMessage {
  const { id, headers, body } = letterOf(url, options);
  return { id, headers, body: typeof body === 'string' ? ENCODER.encode(body) : body };
}

/** As many letters as this, without memory for them: the n-th is `make(n)`. */
function lettersOf(number: number, make: (n: number) => DeadLetterMessage): Pick<DeadLetters, 'sift' | 'browse'> {
  return {
    browse: () => Promise.reject(new Error('it would have all of them at once')),
    async sift(judge) {
      for (let from = 0; from < number; from += 500)
        await judge(Array.from({ length: Math.min(500, number - from) }, (_, i) => make(from + i)));
    },
  };
}

const urlsOf = (found: readonly FoundLetter[]) => found.map(({ letter }) => letter?.url);

test('of any number of letters those that failed first are listed, and all are counted', async () => {
  // One body for most: only their number matters.
  const usual = messageOf('http://a.test/usual', { at: 2_000 });
  const others: Readonly<Record<number, DeadLetterMessage>> = {
    249990: messageOf('http://a.test/third', { at: 1_002 }),
    249995: messageOf('http://a.test/first', { at: 1_000 }),
    249999: messageOf('http://a.test/second', { at: 1_001 }),
  };
  const letters = lettersOf(250_000, (n) => others[n] ?? usual);
  const { found, all } = await listLetters(letters, { isMeant: () => true, limit: 4 });
  expect([all, ...urlsOf(found)]).toEqual([
    250_000,
    ...['first', 'second', 'third', 'usual'].map((name) => `http://a.test/${name}`),
  ]);
});

test('one that is behind very many others is found', async () => {
  const wanted = messageOf('http://b.test/', {});
  const usual = messageOf('http://a.test/', {});
  const letters = lettersOf(150_000, (n) => (n === 149_999 ? wanted : usual));
  const isMeant = ({ host }: FoundLetter): boolean => host === 'b.test';
  expect(await listLetters(letters, { isMeant, limit: 100 })).toEqual({
    found: [readLetter(wanted)],
    meant: 1,
    all: 150_000,
  });
});
