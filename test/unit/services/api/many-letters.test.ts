import Fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { expect, onTestFinished, test } from 'vitest';
import type { LetterBrowser } from '../../../../services/api/letter-browser.ts';
import type { Api, ApiParts } from '../../../../services/api/parts.ts';
import { addDeadLetterRoutes } from '../../../../services/api/routes/dead-letters.ts';
import { type FoundLetter, readLetter } from '../../../../shared/control/letters/letter-filter.ts';
import { browseLetters, MOST_LOOKED_AT } from '../../../../shared/control/letters/letter-list.ts';
import type { DeadLetterMessage, DeadLetters } from '../../../../shared/ports/transport.ts';
import { letterOf } from '../../../support/stores/letters.ts';

/** Asks the route for letters that are `found` in their order whenever it is asked. */
function openRoutes(letters: Partial<LetterBrowser>) {
  const app = Fastify() as unknown as Api;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  addDeadLetterRoutes(app, { letters } as unknown as ApiParts);
  onTestFinished(() => app.close());
  return async (query: string) => (await app.inject(`/api/dlq${query}`)).json();
}

/** A letter of one of a few moments, so that many are of the same; or the raw body of a message, every hundredth without an id. */
function messageOf(n: number): DeadLetterMessage {
  if (n % 10 === 0)
    return { id: n % 100 === 0 ? undefined : `${'x'.repeat(300)}-${n}`, body: Buffer.from(`raw ${n}`), headers: {} };
  const { id, body, headers } = letterOf(`http://a.test/${n}`, { at: 1_000 * (n % 3) });
  return { id, body: Buffer.from(String(body)), headers };
}

test('page after page, each letter comes once, even if letters come, leave and change places in the queue meanwhile', async () => {
  const all = Array.from({ length: 2_500 }, (_, n) => messageOf(n));
  const [late, gone] = [messageOf(5_001), new Set(all.filter((_, n) => n % 7 === 1))];
  let [now, asked] = [all, 0];
  const browse = (): Promise<FoundLetter[]> => browseLetters({ browse: async () => now } as unknown as DeadLetters);
  const ask = openRoutes({ browse });
  const shown: string[] = [];
  for (let next: string | null = ''; next !== null; asked++) {
    const answer = await ask(`?limit=300${next === '' ? '' : `&cursor=${next}`}`);
    expect(answer).toMatchObject({ total: now.length, truncated: false });
    shown.push(...answer.letters.map(({ url, raw }: { url?: string; raw?: string }) => url ?? raw));
    next = answer.next;
    now = [...all.filter((letter) => asked < 3 || !gone.has(letter)), late].toReversed();
  }
  const named = (letters: readonly DeadLetterMessage[]) =>
    letters.map(readLetter).map(({ letter, message }) => letter?.url ?? String(message.body));
  expect(new Set(shown).size, 'none comes twice').toBe(shown.length);
  const stayed = named(all.filter((letter) => !gone.has(letter) && letter.id !== undefined));
  expect(stayed.filter((name) => !shown.includes(name))).toEqual([]);
});

test('the letters that match a filter are spread over pages, the last of which has no next', async () => {
  const found = await browseLetters({
    browse: async () => Array.from({ length: 95 }, (_, n) => messageOf(n)),
  } as unknown as DeadLetters);
  const ask = openRoutes({ browse: async () => found });
  const first = await ask('?host=a.test&limit=80');
  expect(first).toMatchObject({ letters: { length: 80 }, total: 85, next: expect.any(String) });
  const second = await ask(`?host=a.test&limit=80&cursor=${first.next}`);
  expect(second).toMatchObject({ letters: { length: 5 }, total: 85, next: null });
});

test.each(['x', '0', 'WyJhIl0', Buffer.from('["a","b",0]').toString('base64url'), 'x'.repeat(4_001)])(
  'a cursor that no answer gave is refused: %s',
  async (cursor) => {
    const ask = openRoutes({ browse: async () => [] });
    expect(await ask(`?cursor=${cursor}`)).toMatchObject({ message: expect.stringContaining('cursor') });
  },
);

test('with more letters than are searched, the answer has the total and says that it is truncated', async () => {
  const { id, body, headers } = letterOf('http://a.test/', { at: 0 });
  const found = readLetter({ id, body: Buffer.from(String(body)), headers });
  const ask = openRoutes({
    browse: async () => Array(MOST_LOOKED_AT).fill(found),
    count: async () => MOST_LOOKED_AT + 5,
  });
  const first = await ask('?limit=2');
  expect(first).toMatchObject({ letters: [{}, {}], total: MOST_LOOKED_AT + 5, truncated: true });
  expect(await ask(`?limit=1000&cursor=${first.next}`)).toMatchObject({ letters: { length: 1_000 }, truncated: true });
  expect(await ask('?host=b.test')).toEqual({ letters: [], total: 0, next: null, truncated: true });
  expect((await ask('/nix')).message).toContain('which are searched');
});

test('a letter dated at the end of time by another program is shown', async () => {
  const { id, body, headers } = letterOf('http://a.test/1');
  const failedAt = '+275760-09-13T00:00:00.000Z';
  const message = { id, body: Buffer.from(JSON.stringify({ ...JSON.parse(String(body)), failedAt })), headers };
  const ask = openRoutes({ browse: async () => [readLetter(message)] });
  const { letters } = await ask('');
  expect(letters).toEqual([expect.objectContaining({ url: 'http://a.test/1', failedAt })]);
  expect(letters[0]).not.toHaveProperty('expiresAt');
});

test('while many letters are read, others on the event loop get their turns', async () => {
  const messages = Array.from({ length: 10_000 }, (_, n) => messageOf(n));
  let [turns, isReading] = [0, true];
  const turn = (): void => {
    turns++;
    if (isReading) setImmediate(turn);
  };
  setImmediate(turn);
  const found = await browseLetters({ browse: async () => messages } as unknown as DeadLetters);
  isReading = false;
  expect(found).toHaveLength(10_000);
  expect(turns).toBeGreaterThanOrEqual(9);
});
