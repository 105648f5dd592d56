import { expect, test } from 'vitest';
import { jsonOn } from '../../support/docs/pages.ts';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Objects whose keys differ between answers. */
const OPEN: ReadonlySet<string> = new Set(['reasons', 'options', 'data']);

/** The keys of an answer; nested ones have their path, such as `runs[].run`. */
function keysOf(json: Json, path = ''): string[] {
  if (Array.isArray(json)) return json.length === 0 ? [] : keysOf(json[0], `${path}[]`);
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) => {
    const place = path === '' ? key : `${path}.${key}`;
    return [place, ...(OPEN.has(key) ? [] : keysOf(value, place))];
  });
}

/** The answers shown in docs/commands.md: one per block, or one per line of a block. */
function shown(): { readonly [key: string]: Json }[] {
  return jsonOn('docs/commands.md').flatMap((block) => {
    try {
      return [JSON.parse(block)];
    } catch {
      return block
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    }
  });
}

/** The keys of the only shown answer that has all of `keys`. */
function shownWith(...keys: readonly string[]): string[] {
  const found = shown().filter((answer) => keys.every((key) => key in answer));
  expect(found, keys.join()).toHaveLength(1);
  return keysOf(found[0] ?? null).toSorted();
}

test('the JSON answers in docs/commands.md have exactly the fields that the commands print', {
  timeout: 120_000,
}, async () => {
  const { workplace, site } = await openFleet();
  const seeds = `${site.url('/page/1')}\n${site.url('/status/404')}\n`;
  const summary = await workplace.json(['crawl', '-', '--run', 'local', ...AT_FULL_SPEED], seeds);
  expect(keysOf(summary).toSorted()).toEqual(shownWith('records', 'pagesPerSecond'));
  const [record = null] = (await workplace.run(['records', 'local'])).stdout
    .split('\n')
    .map((line) => JSON.parse(line || 'null'));
  expect(keysOf(record).toSorted()).toEqual(shownWith('outcome', 'fetchedAt'));
  const [letter] = await workplace.json(['dlq', 'list', '--run', 'local']);
  expect(keysOf(letter).toSorted()).toEqual(shownWith('failedAt', 'attempts'));

  const offered = await workplace.json(['produce', '-', '--run', 'mine'], seeds);
  expect(keysOf(offered).toSorted()).toEqual(shownWith('workerCommand'));
  expect(keysOf(await workplace.json(['pause', 'mine'])).toSorted()).toEqual(shownWith('wasSealed'));
  const host = await workplace.json(['pause', '--host', 'a.example']);
  expect(keysOf(host).toSorted()).toEqual(shownWith('host', 'was'));
});
