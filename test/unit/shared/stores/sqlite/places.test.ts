import { expect, test } from 'vitest';
import { LocalDatabase } from '../../../../../shared/stores/sqlite/database/database.ts';
import { IN_MEMORY } from '../../../../../shared/stores/sqlite/database/sqlite-file.ts';
import { Places } from '../../../../../shared/stores/sqlite/moves/rows/task-rows.ts';

/** The places of a list with tasks at these. */
async function placesOf<T>(taken: readonly number[], use: (places: Places) => T): Promise<T> {
  const database = new LocalDatabase({ path: IN_MEMORY });
  return await database.call(() => {
    for (const place of taken)
      database.run(
        "INSERT INTO tasks (run, host, queue, place, mark, firstSeen, deadline, form) VALUES (1, 'a.test', 1, ?, 'm', 0, 0, '')",
        place,
      );
    return use(new Places(database));
  });
}

const heads = (places: Places, count?: number): number => places.atHead(1, 'a.test', 1, count);
const tails = (places: Places): number => places.atTail(1, 'a.test', 1);

test('in an empty list, heads and tails begin on both sides of the middle', async () => {
  expect(await placesOf([], (places) => [tails(places), heads(places), tails(places), heads(places)])).toEqual([
    1, 0, 2, -1,
  ]);
});

test('a list with tasks grows at both ends', async () => {
  expect(await placesOf([7, 9], (places) => [heads(places, 3), tails(places), heads(places)])).toEqual([4, 10, 3]);
});

test('a tail comes after all places that were given at the head, taken or not', async () => {
  expect(await placesOf([-2], (places) => tails(places))).toBe(1);
});
