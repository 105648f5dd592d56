import { expect, test } from 'vitest';
import type { ListedHost } from '../../../../services/api/host-list.ts';
import { pageOfHosts } from '../../../../services/api/host-pages.ts';
import { openApi } from './setup.ts';

const circumstances = { pausedMs: 0, reason: '', byHand: false, isUnreachable: false };
const listed = (...names: readonly string[]): ListedHost[] =>
  names.map((host) => ({ host, waiting: 1, runs: [], circumstances }));

test('hosts that come and go between two pages shift none', () => {
  const pages: string[][] = [];
  let cursor: string | undefined;
  for (const now of [
    listed('a', 'b', 'c', 'd', 'e', 'f'),
    listed('0', 'a', 'b', 'c', 'd', 'e', 'f'),
    // Also the one that a page ended with.
    listed('0', 'b', 'c', 'e', 'f'),
  ]) {
    const { page, next } = pageOfHosts(now, { cursor, limit: 2 });
    pages.push(page.map(({ host }) => host));
    cursor = next ?? undefined;
  }
  expect(pages).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
  ]);
  expect(cursor).toBeUndefined();
});

test.each([
  ['no base64 of JSON', 'x'],
  ['a number, as it once was', '2'],
])('a cursor that is none is refused: %s', async (_, cursor) => {
  const { ask } = await openApi();
  expect((await ask(`/api/hosts?cursor=${cursor}`)).status).toBe(400);
});
